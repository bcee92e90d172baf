// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace jprof::testing {

enum class Fault { kKill, kNoSpace, kIoError };

struct FaultRun {
  bool reached = false;  // the work had that many system calls, so the fault happened
  bool finished = false; // the child ended by itself
  int exit_code = -1;    // of a child that did
};

// Runs `work` in a forked child under ptrace(2) and strikes at its system call number `at` (from
// 1): kKill kills it before the call is made; the other two let the call fail with ENOSPC or EIO,
// counting only calls that change the disk (write, fsync, rename, link, mkdir, creating opens,
// fallocate). x86-64 only for those; `work`'s return value is the child's exit code. So a test can
// stop code at every point where the outside world sees a difference, without hooks in the code.
FaultRun run_with_fault(Fault fault, int at, const std::function<int()>& work);

} // namespace jprof::testing
