// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pending_file.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/random.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {
namespace {

constexpr int kMaxNames = 100;

std::string base_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "dir/a-b.html", 2 -> "dir/a-b-2.html".
std::string numbered(const std::string& path, int number) {
  const std::string base = base_of(path);
  const auto dot = base.rfind('.');
  const std::size_t at = path.size() - (dot == std::string::npos ? 0 : base.size() - dot);
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

constexpr std::string_view kHiddenEnding = ".jprof-part";

base::Result<std::string> hidden_name(const std::string& path) {
  JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(10));
  return base::directory_of(path) + "/." + base_of(path) + "." + suffix +
         std::string(kHiddenEnding);
}

[[maybe_unused]] std::string link_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// Removes what killed processes left under hidden names: the files of live processes are locked.
void sweep(const std::string& directory) {
  const auto names = base::names_in(directory);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!name.starts_with('.') || !name.ends_with(kHiddenEnding)) {
      continue;
    }
    const std::string path = directory + "/" + name;
    const base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      ::unlink(path.c_str());
    }
  }
}

} // namespace

base::Result<PendingFile> PendingFile::create(const std::string& path, Growth growth) {
  PendingFile out;
  out.path_ = path;
  if (growth == Growth::kUnnamed && out.open_unnamed()) {
    return out;
  }
  sweep(base::directory_of(path));
  JPROF_TRY(out.open_hidden());
  return out;
}

bool PendingFile::open_unnamed() {
#ifdef O_TMPFILE
  fd_.reset(::open(base::directory_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  // It gets its name through /proc: without that, it could never be committed.
  return fd_ && ::access(link_of(fd_.get()).c_str(), F_OK) == 0;
#else
  return false;
#endif
}

base::Status PendingFile::open_hidden() {
  for (;;) {
    JPROF_TRY_ASSIGN(hidden_, hidden_name(path_));
    fd_.reset(::open(hidden_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!fd_) {
      base::Error failed = base::errno_error(errno, "cannot create " + path_);
      failed.code = base::ErrorCode::kIo;
      hidden_.clear();
      return base::fail(std::move(failed).with_cure("choose another place with -o"));
    }
    // A locked file is in use. Another process's cleanup may have been faster: then this file no
    // longer has a name.
    ::flock(fd_.get(), LOCK_EX);
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0 || info.st_nlink > 0) {
      return {};
    }
  }
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)), hidden_(std::exchange(other.hidden_, {})),
      committed_(std::move(other.committed_)), fd_(std::move(other.fd_)), size_(other.size_) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(hidden_, other.hidden_);
  std::swap(committed_, other.committed_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

PendingFile::~PendingFile() {
  if (!hidden_.empty()) {
    ::unlink(hidden_.c_str());
  }
}

base::Status PendingFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      const int error = errno;
      base::Error failed = base::errno_error(error, "cannot write " + path_);
      failed.code = base::ErrorCode::kIo;
      return base::fail(std::move(failed));
    }
    size_ += static_cast<std::uint64_t>(wrote);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

base::Status PendingFile::truncate(std::uint64_t size_bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)) != 0) {
    return base::errno_failure(errno, "cannot shorten " + path_);
  }
  size_ = size_bytes;
  return {};
}

base::Result<std::string> PendingFile::commit_as(const std::string& path, base::Replace replace) {
  path_ = path;
  return commit(replace);
}

// link(2) refuses a name that exists on every POSIX system.
base::Result<bool> PendingFile::link_at(const std::string& name) const {
  const int done = hidden_.empty() ? ::linkat(AT_FDCWD, link_of(fd_.get()).c_str(), AT_FDCWD,
                                              name.c_str(), AT_SYMLINK_FOLLOW)
                                   : ::link(hidden_.c_str(), name.c_str());
  if (done != 0 && errno != EEXIST) {
    return base::errno_failure(errno, "cannot create " + name);
  }
  return done == 0;
}

// A file without a name cannot be renamed over another: it gets a hidden name first.
base::Result<std::string> PendingFile::replace() {
  if (hidden_.empty()) {
    JPROF_TRY_ASSIGN(std::string name, hidden_name(path_));
    ::flock(fd_.get(), LOCK_EX);
    JPROF_TRY(link_at(name));
    hidden_ = std::move(name);
  }
  if (::rename(hidden_.c_str(), path_.c_str()) != 0) {
    return base::errno_failure(errno, "cannot create " + path_);
  }
  hidden_.clear();
  return path_;
}

base::Result<std::string> PendingFile::give_name(base::Replace replace_old) {
  if (::fsync(fd_.get()) != 0) {
    return base::errno_failure(errno, "cannot sync " + path_);
  }
  if (replace_old == base::Replace::kAllow) {
    return replace();
  }
  std::string name = path_;
  for (int number = 2;; ++number) {
    JPROF_TRY_ASSIGN(const bool linked, link_at(name));
    if (linked) {
      break;
    }
    if (number > kMaxNames) {
      return base::errno_failure(EEXIST, "cannot create " + name);
    }
    name = numbered(path_, number);
  }
  if (!hidden_.empty()) {
    ::unlink(std::exchange(hidden_, {}).c_str());
  }
  return name;
}

base::Result<std::string> PendingFile::commit(base::Replace replace_old) {
  if (committed_.empty()) {
    JPROF_TRY_ASSIGN(committed_, give_name(replace_old));
  }
  JPROF_TRY(base::sync_directory(base::directory_of(committed_)));
  return committed_;
}

} // namespace jprof::plugin
