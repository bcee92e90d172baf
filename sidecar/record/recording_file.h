// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/digest.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace jprof::record {

// A new file that grows by appending, and its digest. One thread at a time.
class RecordingFile {
 public:
  // kAlreadyExists if there is one. Mode 0600, because a profile reveals what a program does.
  static base::Result<RecordingFile> create(const std::string& path);

  // An append that would make it longer is refused whole (kLimit).
  void limit_to(std::uint64_t bytes) { max_bytes_ = bytes; }
  // From now on the file's content stays out of the page cache, except for the last megabyte: a JVM
  // that shares our cgroup would pay for that cache.
  void leave_no_cache() { leave_no_cache_ = true; }
  // Appends all of it or nothing. Reserves room on the disk for kReserve more bytes beforehand, so
  // that a full disk is noticed while there is still room for the end of a recording, which may use
  // the reserve after a refusal.
  base::Status append(std::string_view bytes);
  static constexpr std::uint64_t kReserve = 8192; // twice the largest end of a recording seen
  base::Status sync();
  std::uint64_t bytes() const { return bytes_; }
  std::string sha256_hex();
  const std::string& path() const { return path_; }
  void remove();
  // Returns the descriptor, positioned at the beginning for reading; nothing can be appended any
  // more.
  base::UniqueFd release() { return std::move(fd_); }

 private:
  RecordingFile(base::UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  // Made on first use: the first digest of a process costs a millisecond, and the file is made
  // before the recording begins.
  base::Sha256Stream& digest();

  base::Status take_room(std::uint64_t bytes);
  base::Status refusal(int os_errno) const;
  void drop_from_cache();

  base::UniqueFd fd_;
  std::string path_;
  std::unique_ptr<base::Sha256Stream> digest_;
  std::uint64_t bytes_ = 0;
  std::uint64_t max_bytes_ = UINT64_MAX;
  std::uint64_t reserve_ = kReserve; // 0: used, or given back
  bool leave_no_cache_ = false;
  std::uint64_t dropped_at_ = 0; // its size when pages were last dropped
};

// Drops a file that is already on the disk (fsync) from the page cache. Failures are ignored.
void drop_from_cache(const std::string& path);

} // namespace jprof::record
