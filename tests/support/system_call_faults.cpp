// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system_call_faults.h"

#include "lib/base/check.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jprof::testing {
namespace {

// A stop for a system call, as PTRACE_O_TRACESYSGOOD marks it.
bool is_call_stop(int status) {
  return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

#ifdef __x86_64__
bool changes_the_disk(const user_regs_struct& registers) {
  switch (static_cast<long>(registers.orig_rax)) {
  case SYS_write:
  case SYS_pwrite64:
  case SYS_fsync:
  case SYS_fdatasync:
  case SYS_rename:
  case SYS_renameat:
  case SYS_link:
  case SYS_mkdir:
  case SYS_fallocate:
    return true;
  case SYS_open:
    return (registers.rsi & O_CREAT) != 0;
  case SYS_openat:
    return (registers.rdx & O_CREAT) != 0;
  default:
    return false;
  }
}

// Called at the call's entry: it becomes none, and returns -error.
void let_fail(pid_t child, user_regs_struct registers, int error) {
  registers.orig_rax = static_cast<unsigned long long>(-1);
  JPROF_CHECK(::ptrace(PTRACE_SETREGS, child, nullptr, &registers) == 0);
  JPROF_CHECK(::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
  int status = 0;
  JPROF_CHECK(::waitpid(child, &status, 0) == child && is_call_stop(status));
  JPROF_CHECK(::ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0);
  registers.rax = static_cast<unsigned long long>(-error);
  JPROF_CHECK(::ptrace(PTRACE_SETREGS, child, nullptr, &registers) == 0);
}

bool counts(pid_t child, Fault fault) {
  user_regs_struct registers{};
  JPROF_CHECK(::ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0);
  return fault == Fault::kKill || changes_the_disk(registers);
}

void strike(pid_t child, Fault fault) {
  if (fault == Fault::kKill) {
    ::kill(child, SIGKILL);
    return;
  }
  user_regs_struct registers{};
  JPROF_CHECK(::ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0);
  let_fail(child, registers, fault == Fault::kNoSpace ? ENOSPC : EIO);
}
#else
bool counts(pid_t, Fault fault) {
  return fault == Fault::kKill;
}
void strike(pid_t child, Fault) {
  ::kill(child, SIGKILL);
}
#endif

} // namespace

FaultRun run_with_fault(Fault fault, int at, const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::_exit(work());
  }
  JPROF_CHECK(child > 0);
  int status = 0;
  JPROF_CHECK(::waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  JPROF_CHECK(
      ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
  FaultRun run;
  int calls = 0;
  bool entry = true;
  for (;;) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0 && errno != ESRCH) {
      JPROF_CHECK(false);
    }
    JPROF_CHECK(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      run.finished = WIFEXITED(status);
      run.exit_code = run.finished ? WEXITSTATUS(status) : -1;
      return run;
    }
    if (!is_call_stop(status)) {
      continue; // a signal of the child's own: not delivered, none is expected
    }
    if (entry && !run.reached && counts(child, fault) && ++calls == at) {
      run.reached = true;
      strike(child, fault); // leaves the child at the call's exit, or dying
      entry = true;
      continue;
    }
    entry = !entry;
  }
}

} // namespace jprof::testing
