// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/perf_clock.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"
#include "lib/wire/region.h"

#include <errno.h>
#include <linux/perf_event.h>

namespace jprof::agent::engines {
namespace {

using sampling::store_relaxed;
using sampling::store_release;

// include/uapi/asm-generic/fcntl.h; some releases of libc hide these behind _GNU_SOURCE.
constexpr long kSetSignal = 10;
constexpr long kSetOwner = 15;
constexpr int kFirstRealTimeSignal = 32; // the kernel's
struct Owner {
  std::int32_t type; // 0: a thread
  std::int32_t tid;
};

long open_event(std::int32_t tid, std::uint64_t interval_ns) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = interval_ns;
  attributes.wakeup_events = 1;
  attributes.disabled = 1;
  return arch::system_call(SYS_perf_event_open, os::as_argument(&attributes), tid, -1, -1,
                           PERF_FLAG_FD_CLOEXEC);
}

} // namespace

std::uint32_t perf_refusal(int signal) {
  if (signal >= kFirstRealTimeSignal) {
    return wire::kPerfNeedsSigprof;
  }
  os::Seccomp seccomp;
  if (!os::read_seccomp(os::thread_id(), &seccomp) || seccomp.mode != 0) {
    return wire::kPerfNotTried;
  }
  constexpr std::uint64_t kAny = 1'000'000;
  const long fd = open_event(os::thread_id(), kAny);
  if (fd < 0) {
    return static_cast<std::uint32_t>(-fd);
  }
  os::close_fd(static_cast<int>(fd));
  return 0;
}

std::uint64_t perf_budget() {
  struct {
    std::uint64_t soft, hard;
  } limit{};
  constexpr long kOpenFiles = 7; // RLIMIT_NOFILE
  if (arch::system_call(SYS_prlimit64, 0, kOpenFiles, 0, os::as_argument(&limit)) != 0) {
    return 0;
  }
  const std::uint64_t open = os::count_open_files();
  return limit.soft > open ? (limit.soft - open) / 2 : 0;
}

long arm_perf_clock(const sampling::Sampler& sampler, sampling::ThreadEntry& entry, int signal,
                    std::uint64_t interval_ns) {
  const long opened = open_event(entry.tid, interval_ns);
  if (opened < 0) {
    return opened;
  }
  const int fd = static_cast<int>(opened);
  long result = -EMFILE;
  if (static_cast<std::uint32_t>(fd) < sampler.perf_capacity) {
    // The signal carries the descriptor's number, by which the handler finds the thread's entry.
    store_relaxed(sampler.perf_slots[fd], static_cast<std::uint16_t>(&entry - sampler.threads + 1));
    store_relaxed(entry.timer, fd);
    store_relaxed(entry.interval_ns, interval_ns);
    // If the thread was found late, what it used before belongs to its first sample.
    store_relaxed(entry.carried_ns,
                  thread_cpu_ns(entry.tid) - sampling::load_relaxed(entry.accounted_ns));
    store_release(entry.armed, sampling::kArmedByPerf);
    const Owner owner{.type = 0, .tid = entry.tid};
    result = arch::system_call(SYS_fcntl, fd, kSetSignal, signal);
    result =
        result != 0 ? result : arch::system_call(SYS_fcntl, fd, kSetOwner, os::as_argument(&owner));
    result = result != 0 ? result : arch::system_call(SYS_fcntl, fd, F_SETFL, O_ASYNC);
    result = result != 0 ? result : arch::system_call(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
    if (result != 0) {
      disarm_perf_clock(entry);
    }
    return result;
  }
  os::close_fd(fd);
  return result;
}

void change_perf_clock(sampling::ThreadEntry& entry, std::uint64_t interval_ns) {
  if (arch::system_call(SYS_ioctl, entry.timer, PERF_EVENT_IOC_PERIOD,
                        os::as_argument(&interval_ns)) == 0) {
    store_relaxed(entry.interval_ns, interval_ns);
  }
}

// Closing alone is not enough: a child that the JVM has forked may hold the descriptor too, which
// keeps the event alive, and its signals would no longer find our handler.
void disarm_perf_clock(sampling::ThreadEntry& entry) {
  store_release(entry.armed, std::uint32_t{0});
  if (entry.timer >= 0) {
    const bool silent = arch::system_call(SYS_ioctl, entry.timer, PERF_EVENT_IOC_DISABLE, 0) == 0;
    const bool deaf = arch::system_call(SYS_fcntl, entry.timer, F_SETFL, 0) == 0;
    const long closed = arch::system_call(SYS_close, entry.timer);
    if (closed == -EPERM || closed == -EACCES || closed == -ENOSYS) {
      leave_timer(!silent && !deaf);
    }
    entry.timer = -1;
  }
}

} // namespace jprof::agent::engines
