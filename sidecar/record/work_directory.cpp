// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/work_directory.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/held_back.h"
#include "lib/base/random.h"
#include "sidecar/record/capture_job.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::record {
namespace {

constexpr std::string_view kPrefix = ".jprof-";
constexpr std::size_t kSuffix = 10;
constexpr std::size_t kMostNames = 4096;
constexpr std::size_t kMostAbandoned = 8;

base::UniqueFd open_directory(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_work_directory(std::string_view name) {
  return name.size() == kPrefix.size() + kSuffix && name.starts_with(kPrefix) &&
         std::ranges::all_of(name.substr(kPrefix.size()), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
         });
}

bool has_recording(int directory) {
  struct stat recording {};
  return ::fstatat(directory, kRecordingFile, &recording, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(recording.st_mode) && recording.st_size > 0;
}

// Its owner holds the lock for as long as it lives; where there are no locks, nobody gets one.
bool is_abandoned(const std::string& path) {
  const base::UniqueFd directory = open_directory(path);
  struct stat info {};
  return directory && ::fstat(directory.get(), &info) == 0 && info.st_uid == ::geteuid() &&
         has_recording(directory.get()) && ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
}

} // namespace

base::Result<std::string> WorkDirectory::name_in(const std::string& parent) {
  JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(kSuffix));
  return parent + '/' + std::string(kPrefix) + suffix;
}

base::Result<WorkDirectory> WorkDirectory::make(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    const int error = errno;
    const std::string parent = base::directory_of(path);
    if (error == ENOENT || error == ENOTDIR) {
      return base::make_failure(base::ErrorCode::kUsage, "there is no folder " + parent,
                                "make it, or name another one");
    }
    return base::fail(base::errno_error(error, "cannot write into " + parent)
                          .with_cure("name a folder that is writable"));
  }
  base::UniqueFd lock = open_directory(path);
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    base::hold_back(lock.get());
  }
  return WorkDirectory(path, std::move(lock));
}

WorkDirectory::WorkDirectory(std::string path, base::UniqueFd lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

WorkDirectory::WorkDirectory(WorkDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

WorkDirectory::~WorkDirectory() {
  if (lock_) {
    base::forget_held_back(lock_.get());
  }
  if (path_.empty()) {
    return;
  }
  if (const auto names = base::names_in(path_)) {
    for (const std::string& name : *names) {
      ::unlink((path_ + '/' + name).c_str());
    }
  }
  ::rmdir(path_.c_str());
}

bool WorkDirectory::holds_recording() const {
  const base::UniqueFd directory = open_directory(path_);
  return directory && has_recording(directory.get());
}

std::vector<std::string> abandoned_recordings(const std::string& parent) {
  std::vector<std::string> found;
  const auto names = base::names_in(parent, kMostNames);
  if (!names) {
    return found;
  }
  for (const std::string& name : *names) {
    const std::string path = parent + '/' + name;
    if (found.size() < kMostAbandoned && is_work_directory(name) && is_abandoned(path)) {
      found.push_back(path + '/' + kRecordingFile);
    }
  }
  return found;
}

} // namespace jprof::record
