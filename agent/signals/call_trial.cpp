// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/call_trial.h"

#include "agent/os/process.h"
#include "agent/os/system.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace jprof::agent {
namespace {

using wire::AgentStatus;

constexpr long kMany = -1; // a descriptor, timer or address that does not exist

// What an error that only a filter gives means for us.
enum class Need { kNone, kSession, kReceiving, kChannel };

// Each call in a form that does nothing.
struct Call {
  const char* name;
  long number;
  long arguments[4];
  Need need; // a call that kills is never made, whatever the need
};
constexpr Call kCalls[] = {
    {"wait4", SYS_wait4, {kMany, 0, WNOHANG, 0}, Need::kNone}, // for the child
    {"socket", SYS_socket, {kMany, 0, 0, 0}, Need::kChannel},
    {"connect", SYS_connect, {kMany, 0, 0, 0}, Need::kChannel},
    {"sendto", SYS_sendto, {kMany, 0, 0, 0}, Need::kChannel},
    {"ppoll", SYS_ppoll, {0, kMany, 0, 0}, Need::kChannel},
    {"recvmsg", SYS_recvmsg, {kMany, 0, 0, 0}, Need::kReceiving},
    {"prctl", SYS_prctl, {kMany, 0, 0, 0}, Need::kNone},
    {"fcntl", SYS_fcntl, {kMany, F_GETFL, 0, 0}, Need::kSession},
    {"fstat", SYS_fstat, {kMany, 0, 0, 0}, Need::kSession},
    {"madvise", SYS_madvise, {1, 1, kMany, 0}, Need::kNone},
    {"mincore", SYS_mincore, {1, 1, 0, 0}, Need::kNone},
    {"pread64", SYS_pread64, {kMany, 0, 0, 0}, Need::kNone},
    {"pwrite64", SYS_pwrite64, {kMany, 0, 0, 0}, Need::kNone},
    {"readlinkat", SYS_readlinkat, {kMany, 0, 0, 0}, Need::kSession},
    {"getdents64", SYS_getdents64, {kMany, 0, 0, 0}, Need::kSession},
    {"clock_getres", SYS_clock_getres, {CLOCK_MONOTONIC_COARSE, 0, 0, 0}, Need::kNone},
    {"clock_gettime", SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID, 0, 0, 0}, Need::kSession},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait, {0, 0, 0, 8}, Need::kNone},
    {"timer_create", SYS_timer_create, {kMany, 0, 0, 0}, Need::kSession},
    {"timer_delete", SYS_timer_delete, {kMany, 0, 0, 0}, Need::kSession},
    {"timer_settime", SYS_timer_settime, {kMany, 0, 0, 0}, Need::kSession},
    {"timer_gettime", SYS_timer_gettime, {kMany, 0, 0, 0}, Need::kNone},
    {"munmap", SYS_munmap, {1, 1, 0, 0}, Need::kSession},
};
constexpr std::uint32_t kChannelCalls = 5; // the first ones
constexpr std::uint32_t kReceivingCall = kChannelCalls;
constexpr std::uint32_t kCallCount = sizeof kCalls / sizeof kCalls[0];

struct Progress {
  volatile bool begun = false;
  volatile std::uint32_t done = 0; // calls that the child has survived
  volatile long results[kCallCount] = {};
};

// In the child. Death by seccomp dumps core, and that would be the JVM's memory: a limit of 1
// prevents it, both to a file and to a pipe (do_coredump of fs/coredump.c).
int make_calls(void* argument) {
  auto* progress = static_cast<Progress*>(argument);
  const rlimit no_core{.rlim_cur = 1, .rlim_max = 1};
  if (arch::system_call(SYS_prlimit64, 0, RLIMIT_CORE, os::as_argument(&no_core), 0) != 0) {
    return 1;
  }
  progress->begun = true;
  for (std::uint32_t i = 0; i < kCallCount; ++i) {
    const long* arguments = kCalls[i].arguments;
    progress->results[i] =
        arch::system_call(kCalls[i].number, arguments[0], arguments[1], arguments[2], arguments[3]);
    progress->done = i + 1;
  }
  return 0;
}

// Before 5.16 a process whose death dumps core killed all others that share its memory
// (0258b5fd7c71, "coredump: Limit coredumps to a single thread group").
bool kernel_spares_the_others() {
  return os::kernel_is_at_least(5, 16);
}

// False if the calls could not be tried. No signal reports the child's end, and no wait() of the
// program finds it.
bool try_in_a_child(Progress* progress) {
  alignas(16) unsigned char stack[16384];
  constexpr unsigned long kFlags = CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_FILES | CLONE_UNTRACED;
  const long child = arch::start_child(kFlags, stack + sizeof stack, make_calls, progress);
  if (child <= 0) {
    return false;
  }
  // Not if that might be deadly: the ended child then stays in the process table.
  if (!progress->begun || progress->done > 0) {
    while (arch::system_call(SYS_wait4, child, 0, __WALL, 0) == -EINTR) {
    }
  }
  return progress->begun;
}

// These say that the kernel got as far as checking the arguments; a filter may give any other
// error.
bool is_an_answer(long result) {
  return result == 0 || result == -EINVAL || result == -EBADF || result == -EFAULT ||
         result == -ECHILD || result == -EAFNOSUPPORT || result == -ENOMEM || result == -ENOTSOCK;
}

} // namespace

Failure CallTrial::run() {
  os::Seccomp seccomp;
  if (!os::read_seccomp(os::thread_id(), &seccomp) || seccomp.mode == 0 ||
      !kernel_spares_the_others()) {
    return {};
  }
  Progress progress;
  if (!try_in_a_child(&progress)) {
    return {};
  }
  for (std::uint32_t i = 0; i < kCallCount; ++i) {
    const Call& call = kCalls[i];
    const long result = progress.results[i];
    const bool deadly = i == progress.done;
    if (!deadly && (call.need == Need::kNone || is_an_answer(result))) {
      continue;
    }
    channel_works_ = i >= kChannelCalls; // later calls have not been tried if this one kills
    may_receive_ = i > kReceivingCall;
    return {AgentStatus::kCallForbidden, deadly ? 0 : result,
            deadly ? "a seccomp filter kills the caller of " : "a seccomp filter refuses ",
            call.name};
  }
  return {};
}

} // namespace jprof::agent
