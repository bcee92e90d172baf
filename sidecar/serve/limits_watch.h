// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <sys/resource.h>

namespace jprof::serve {

// What to do about it.
inline constexpr char kLimitsCure[] =
    "find out which process of this user does that, and restart the jprof container";

// Whether somebody has changed the resource limits of this process: prlimit(2) allows that to any
// process of the same user and groups, whether this one is dumpable or not, and a lowered hard
// limit cannot be raised again without a privilege. It can only be noticed.
class LimitsWatch {
 public:
  // Notes the limits as they are.
  LimitsWatch();
  // "another process changed the limits of jprof serve: open files from 1024 to 3"; empty while all
  // are unchanged.
  std::string changes() const;

 private:
  std::array<rlimit, RLIM_NLIMITS> noted_;
};

} // namespace jprof::serve
