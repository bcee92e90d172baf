// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/work_directory.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/held_back.h"
#include "lib/base/random.h"
#include "lib/profile/recording_chunk.h"
#include "sidecar/record/capture_job.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::record {
namespace {

constexpr std::string_view kPrefix = ".jprof-";
constexpr std::size_t kSuffix = 10;
constexpr std::size_t kMaxNames = 4096;
constexpr std::size_t kMaxAbandoned = 8;

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

// The owner of a work directory holds its lock as long as it lives; on a file system without locks
// nobody gets one. The directory is ours as long as the descriptor is open; no descriptor if it is
// not abandoned.
base::UniqueFd take_abandoned(const std::string& path) {
  base::UniqueFd directory = open_directory(path);
  struct stat info {};
  if (directory && ::fstat(directory.get(), &info) == 0 && info.st_uid == ::geteuid() &&
      ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) {
    return directory;
  }
  return {};
}

bool read_at(int fd, std::uint64_t offset, std::string& out) {
  return base::pread_exact(fd, std::as_writable_bytes(std::span(out)), offset, "").has_value();
}

// True only for what a recorder leaves when it is killed before its first sample: whole chunks
// without samples, and the beginning of another one. A file that is damaged in any other way may
// hold samples.
bool ends_before_a_sample(int fd, std::uint64_t bytes) {
  std::string head(profile::kFileHeaderBytes, '\0');
  if (bytes == 0) {
    return true;
  }
  if (!read_at(fd, 0, head) || !profile::check_file_header(head)) {
    return false;
  }
  constexpr int kMaxChunks = 4096; // of two seconds each
  std::uint64_t at = head.size();
  head.resize(profile::kChunkHeaderBytes);
  for (int i = 0; i < kMaxChunks; ++i) {
    profile::ChunkHeader chunk;
    if (bytes - at < head.size()) {
      return true;
    }
    if (!read_at(fd, at, head) || !profile::decode_chunk_header(head, chunk)) {
      return false;
    }
    at += head.size();
    if (chunk.stored_bytes > bytes - at) {
      return true;
    }
    if (chunk.samples > 0) {
      return false;
    }
    at += chunk.stored_bytes;
  }
  return false;
}

bool has_samples(int directory) {
  const base::UniqueFd file(
      ::openat(directory, kRecordingFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  return !file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
         !ends_before_a_sample(file.get(), static_cast<std::uint64_t>(info.st_size));
}

// The folder may be on another machine, whose clock we do not know.
bool is_older_than_a_minute(int directory, const char* name) {
  constexpr std::time_t kMinute = 60;
  struct stat info {};
  return ::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
         std::time(nullptr) - info.st_mtim.tv_sec > kMinute;
}

// Making a file changes the folder, and each chunk changes the file.
bool has_nothing_to_read(int directory, const std::vector<std::string>& names) {
  if (!is_older_than_a_minute(directory, "")) {
    return false;
  }
  return names.empty() ||
         (names.size() == 1 && names.front() == kRecordingFile &&
          is_older_than_a_minute(directory, kRecordingFile) && !has_samples(directory));
}

// Calls `visit` with the path and the descriptor of each abandoned work directory in `parent`,
// which we hold meanwhile, until it returns false.
template <typename Visit>
void visit_abandoned(const std::string& parent, Visit visit) {
  const auto names = base::names_in(parent, kMaxNames);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const std::string path = parent + '/' + name;
    const base::UniqueFd directory =
        is_work_directory(name) ? take_abandoned(path) : base::UniqueFd();
    if (directory && !visit(path, directory.get())) {
      return;
    }
  }
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
                                "create it, or name another one");
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

void remove_empty_leftovers(const std::string& parent) {
  visit_abandoned(parent, [](const std::string& path, int directory) {
    constexpr std::size_t kFew = 16;
    if (const auto inside = base::names_in(path, kFew);
        inside && has_nothing_to_read(directory, *inside)) {
      ::unlinkat(directory, kRecordingFile, 0);
      ::rmdir(path.c_str()); // fails if something is in it by now
    }
    return true;
  });
}

std::vector<std::string> abandoned_recordings(const std::string& parent) {
  std::vector<std::string> found;
  visit_abandoned(parent, [&found](const std::string& path, int directory) {
    if (has_recording(directory) && has_samples(directory)) {
      found.push_back(path + '/' + kRecordingFile);
    }
    return found.size() < kMaxAbandoned;
  });
  return found;
}

} // namespace jprof::record
