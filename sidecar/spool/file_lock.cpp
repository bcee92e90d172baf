// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/file_lock.h"

#include "lib/base/file.h"
#include "lib/base/held_back.h"
#include "lib/base/json.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::spool {
namespace {

constexpr std::size_t kMaxBytes = 16 * 1024;

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

LockHolder read_holder(int fd) {
  LockHolder holder;
  // The holder may be writing right now: then there is nothing to report yet.
  const auto text = base::read_all(fd, kMaxBytes, "lock");
  const auto json = text ? base::parse_json(*text) : base::Result<base::Json>(base::Json());
  if (json) {
    holder = {base::json_string(*json, "id"), base::json_string(*json, "requester"),
              base::json_string(*json, "until")};
  }
  return holder;
}

// The lock's holder may have removed its file between our open and our lock: then we have locked a
// file that nobody else will find.
bool is_still_at(int fd, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

} // namespace

base::Result<std::optional<FileLock>>
FileLock::try_take(const std::string& path, const LockHolder& self, LockHolder* holder) {
  base::UniqueFd fd;
  do {
    // O_NONBLOCK: a FIFO in its place must not hang us.
    fd.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!fd) {
      return base::errno_failure(errno, "cannot open " + path);
    }
    struct flock lock = whole_file();
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return base::errno_failure(errno, "cannot lock " + path);
      }
      if (holder != nullptr) {
        *holder = read_holder(fd.get());
      }
      return std::nullopt;
    }
  } while (!is_still_at(fd.get(), path));
  const std::string text =
      base::dump_json({{"id", self.id}, {"requester", self.requester}, {"until", self.until}});
  // Its contents are only for others' messages; a full disk must not refuse a lock.
  if (::ftruncate(fd.get(), 0) == 0) {
    static_cast<void>(base::write_all(fd.get(), text, path));
  }
  return std::optional(FileLock(std::move(fd)));
}

FileLock::FileLock(base::UniqueFd fd) : fd_(std::move(fd)) {
  base::hold_back(fd_.get());
}

void FileLock::leave_to_parent() {
  if (fd_) {
    base::forget_held_back(fd_.get());
    fd_.reset();
  }
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  release();
  fd_ = std::move(other.fd_);
  return *this;
}

void FileLock::release() {
  if (fd_) {
    struct flock lock = whole_file();
    lock.l_type = F_UNLCK;
    ::fcntl(fd_.get(), F_OFD_SETLK, &lock);
    base::forget_held_back(fd_.get());
  }
}

bool FileLock::is_held(const std::string& path, LockHolder* holder) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct flock lock = whole_file();
  const bool held = fd && ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (held && holder != nullptr) {
    *holder = read_holder(fd.get());
  }
  return held;
}

} // namespace jprof::spool
