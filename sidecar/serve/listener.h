// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/spool/file_lock.h"

#include <optional>
#include <string>

namespace jprof::serve {

// The end of serve's socket at which callers arrive. One descriptor is kept in reserve, so that a
// caller is answered even if none is left (a leak, or a limit that somebody lowered); if even that
// does not help, callers wait a second and nothing spins. One thread.
class Listener {
 public:
  struct Caller {
    base::UniqueFd fd;
    bool is_last = false; // there is no descriptor to serve it with: it is only told so
  };

  // kBusy if another serve listens: its socket is not taken away. A lock next to the socket shows
  // that, and ends with its process.
  static base::Result<Listener> create(const std::string& path);

  // To be polled for reading; -1 while that is pointless, which ends at resting_until().
  int fd() const;
  std::optional<base::Deadline> resting_until() const;
  // Nothing if there is no caller after all, or no descriptor for it.
  std::optional<Caller> accept();
  // In a child made by fork: the parent keeps listening.
  void leave_to_parent();
  void close();

 private:
  Listener(base::UniqueFd fd, spool::FileLock lock);
  std::optional<Caller> accept_the_last();

  base::UniqueFd fd_;
  std::optional<spool::FileLock> lock_;
  base::UniqueFd kept_back_;
  std::optional<base::Deadline> resting_;
  std::optional<base::Deadline> quiet_until_; // no log line more before
};

} // namespace jprof::serve
