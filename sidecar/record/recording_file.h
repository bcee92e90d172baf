// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/digest.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::record {

// A new file that grows by appending, with its digest. One thread at a time.
class RecordingFile {
 public:
  // kAlreadyExists where there is one. Mode 0600: a profile names what a program does.
  static base::Result<RecordingFile> create(const std::string& path);

  // What would make it longer is refused whole (kLimit).
  void limit_to(std::uint64_t bytes) { most_bytes_ = bytes; }
  // What is in the file stays out of the page cache from now on, except for the last megabyte:
  // where the JVM shares our cgroup, it would pay for that cache.
  void leave_no_cache() { leave_no_cache_ = true; }
  // A short write (a full disk) leaves what fitted.
  base::Status append(std::string_view bytes);
  base::Status sync() const;
  std::uint64_t bytes() const { return bytes_; }
  std::string sha256_hex();
  const std::string& path() const { return path_; }
  void remove();

 private:
  RecordingFile(base::UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  // Made when it is needed: the first digest of a process costs a millisecond, and the file is made
  // before the recording begins.
  base::Sha256Stream& digest();

  void drop_from_cache();

  base::UniqueFd fd_;
  std::string path_;
  std::unique_ptr<base::Sha256Stream> digest_;
  std::uint64_t bytes_ = 0;
  std::uint64_t most_bytes_ = UINT64_MAX;
  bool leave_no_cache_ = false;
  std::uint64_t dropped_at_ = 0; // it had so many bytes when they were dropped last
};

// Takes a file that is on the disk already (fsync) out of the page cache. What fails is no loss.
void drop_from_cache(const std::string& path);

} // namespace jprof::record
