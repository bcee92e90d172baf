// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <optional>
#include <string>

namespace jprof::spool {

// Who holds a lock, written into the lock's file for those that find it taken.
struct LockHolder {
  std::string id; // of the capture
  std::string requester;
  std::string until; // RFC 3339 UTC
};

// A lock that ends with its process, however that ends: an open-file-description lock on a file
// that stays (F_OFD_SETLK, fcntl(2); unlike with flock(2), checking it does not take it). Only
// between processes: descriptors inherited by fork share it, but it ends with this object; and a
// child that may have to be left behind (container/as_target.h) holds none, so that the lock also
// ends if this process is killed.
class FileLock {
 public:
  // Nothing if somebody else holds it; then `holder`, if given, is set to who.
  static base::Result<std::optional<FileLock>>
  try_take(const std::string& path, const LockHolder& self, LockHolder* holder = nullptr);
  // True while somebody holds it; then `holder`, if given, is set to who.
  static bool is_held(const std::string& path, LockHolder* holder = nullptr);

  // In a child made by fork: the process that made it keeps the lock.
  void leave_to_parent();

  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept = default; // the descriptor stays the same
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(base::UniqueFd fd);
  void release();
  base::UniqueFd fd_;
};

} // namespace jprof::spool
