// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/engines/cpu_timer.h"

#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"

#include <errno.h>

namespace jprof::agent::engines {
namespace {

// include/linux/posix-timers.h: a clock id holds the complement of the tid, the clock (2: the
// scheduler's; 0: user and system time as accounted) and a bit for a thread's clock (4).
clockid_t thread_cpu_clock(std::int32_t tid) {
  return static_cast<clockid_t>(~static_cast<std::uint32_t>(tid) << 3 | 4 | 2);
}
clockid_t thread_tick_clock(std::int32_t tid) {
  return static_cast<clockid_t>(~static_cast<std::uint32_t>(tid) << 3 | 4);
}

timespec to_timespec(std::uint64_t nanoseconds) {
  return timespec{.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
                  .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
}

// A time in the past would signal at once, even a thread that is asleep in a system call by then.
constexpr std::uint64_t kSoonNs = 50'000;

// The kernel's struct sigevent (include/uapi/asm-generic/siginfo.h); libc's spelling of the last
// field differs between releases.
struct KernelSigevent {
  std::uint64_t value = 0;
  std::int32_t signal = 0;
  std::int32_t notify = 0;
  std::int32_t tid = 0;
  std::int32_t pad[11] = {};
};
static_assert(sizeof(KernelSigevent) == 64);
constexpr std::int32_t kNotifyThread = 4; // SIGEV_THREAD_ID

TimersLeft g_left;

long make_timer_for(std::int32_t tid, clockid_t clock, int signal, void* value,
                    std::int32_t* timer) {
  KernelSigevent event;
  event.value = reinterpret_cast<std::uint64_t>(value);
  event.signal = signal;
  event.notify = kNotifyThread;
  event.tid = tid;
  return arch::system_call(SYS_timer_create, clock, os::as_argument(&event),
                           os::as_argument(timer));
}

// The first expiry is an absolute time of the timer's own clock.
long start_timer_at(std::int32_t timer, std::uint64_t first_at_ns, std::uint64_t interval_ns) {
  const itimerspec period{.it_interval = to_timespec(interval_ns),
                          .it_value = to_timespec(first_at_ns)};
  return arch::system_call(SYS_timer_settime, timer, TIMER_ABSTIME, os::as_argument(&period), 0);
}

// Starts a timer that counts ticks. It first fires when the thread has used `phase_ns` since it was
// last accounted for, as far as its two clocks agree; if it already has, at the next tick.
long start_tick_timer(const sampling::ThreadEntry& entry, std::int32_t timer,
                      std::uint64_t phase_ns, std::uint64_t interval_ns) {
  const std::uint64_t used = thread_cpu_ns(entry.tid) - sampling::load_relaxed(entry.accounted_ns);
  const std::uint64_t left = used < phase_ns ? phase_ns - used : 1;
  return start_timer_at(timer, os::clock_ns(thread_tick_clock(entry.tid)) + left, interval_ns);
}

} // namespace

std::uint64_t tick_ns() {
  timespec resolution{};
  arch::system_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, os::as_argument(&resolution));
  return static_cast<std::uint64_t>(resolution.tv_nsec);
}

std::uint64_t thread_cpu_ns(std::int32_t tid) {
  return os::clock_ns(thread_cpu_clock(tid));
}

bool has_cpu_clock(std::int32_t tid) {
  timespec now{};
  return arch::system_call(SYS_clock_gettime, thread_cpu_clock(tid), os::as_argument(&now)) == 0;
}

long make_timer(clockid_t clock, int signal, void* value, std::int32_t* timer) {
  return make_timer_for(os::thread_id(), clock, signal, value, timer);
}

long start_timer(std::int32_t timer, std::uint64_t first_ns, std::uint64_t interval_ns) {
  const itimerspec period{.it_interval = to_timespec(interval_ns),
                          .it_value = to_timespec(first_ns)};
  return arch::system_call(SYS_timer_settime, timer, 0, os::as_argument(&period), 0);
}

void leave_timer(bool running) {
  ++g_left.all;
  g_left.running += running ? 1U : 0U;
}

void remove_timer(std::int32_t timer) {
  const long result = arch::system_call(SYS_timer_delete, timer);
  if (result != 0 && result != -EINVAL) { // -EINVAL: somebody has deleted it
    leave_timer(start_timer(timer, 0, 0) != 0);
  }
}

TimersLeft timers_left() {
  return g_left;
}

long can_remove_timers() {
  const long result = arch::system_call(SYS_timer_delete, -1);
  return result == -EINVAL ? 0 : result;
}

bool signals_carry_timer_id(int signal) {
  std::int32_t timer = -1;
  if (make_timer(CLOCK_MONOTONIC, signal, nullptr, &timer) != 0) {
    return true;
  }
  start_timer(timer, 1, 0);
  const std::uint64_t set = std::uint64_t{1} << (signal - 1);
  const timespec patience = to_timespec(50'000'000);
  siginfo_t info{};
  const long got = arch::system_call(SYS_rt_sigtimedwait, os::as_argument(&set),
                                     os::as_argument(&info), os::as_argument(&patience), 8);
  remove_timer(timer);
  return got != signal || info.si_timerid == timer;
}

long arm_cpu_timer(sampling::ThreadEntry& entry, int signal, std::uint64_t interval_ns,
                   std::uint64_t phase_ns) {
  std::int32_t timer = -1;
  long result = make_timer_for(entry.tid, thread_cpu_clock(entry.tid), signal, &entry, &timer);
  if (result != 0) {
    return result;
  }
  const std::uint64_t accounted = sampling::load_relaxed(entry.accounted_ns);
  const std::uint64_t soon = thread_cpu_ns(entry.tid) + kSoonNs;
  const std::uint64_t first_at = accounted + phase_ns > soon ? accounted + phase_ns : soon;
  sampling::store_relaxed(entry.timer, timer);
  sampling::store_relaxed(entry.counts_ticks, std::uint32_t{0});
  sampling::store_relaxed(entry.interval_ns, interval_ns);
  // What the first signal stands for beyond an interval. Negative values wrap, and wrap back.
  sampling::store_relaxed(entry.carried_ns, first_at - accounted - interval_ns);
  sampling::store_release(entry.armed, sampling::kArmedByTimer);
  result = start_timer_at(timer, first_at, interval_ns);
  if (result != 0) {
    disarm_cpu_timer(entry);
  }
  return result;
}

long count_ticks(sampling::ThreadEntry& entry, int signal, std::uint64_t phase_ns) {
  std::int32_t timer = -1;
  long result = make_timer_for(entry.tid, thread_tick_clock(entry.tid), signal, &entry, &timer);
  if (result != 0) {
    return result;
  }
  result = start_tick_timer(entry, timer, phase_ns, sampling::load_relaxed(entry.interval_ns));
  if (result != 0) {
    remove_timer(timer);
    return result;
  }
  const std::int32_t before = entry.timer;
  sampling::store_relaxed(entry.counts_ticks, std::uint32_t{1});
  sampling::store_relaxed(entry.timer, timer);
  remove_timer(before);
  return 0;
}

// posix_cpu_timer_get of the kernel's posix-cpu-timers.c: a running timer has at least a nanosecond
// left, even if it has just fired.
bool cpu_timer_is_dead(const sampling::ThreadEntry& entry) {
  itimerspec left{};
  return arch::system_call(SYS_timer_gettime, entry.timer, os::as_argument(&left)) == 0 &&
         left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
}

void change_cpu_timer(sampling::ThreadEntry& entry, std::uint64_t interval_ns) {
  if (entry.counts_ticks != 0) {
    if (start_tick_timer(entry, entry.timer, interval_ns, interval_ns) == 0) {
      sampling::store_relaxed(entry.interval_ns, interval_ns);
    }
    return;
  }
  const std::uint64_t cpu = thread_cpu_ns(entry.tid);
  const std::uint64_t accounted = sampling::load_relaxed(entry.accounted_ns);
  const std::uint64_t before = sampling::load_relaxed(entry.interval_ns);
  std::uint64_t next = accounted + interval_ns;
  std::uint64_t carried = 0;
  if (static_cast<std::int64_t>(cpu - next) >= 0) {
    // A time in the past would signal at once, even a thread that is asleep in a system call.
    carried = cpu + 1 - next;
    next = cpu + 1;
  }
  sampling::store_relaxed(entry.interval_ns, interval_ns);
  sampling::store_relaxed(entry.carried_ns, carried);
  if (start_timer_at(entry.timer, next, interval_ns) != 0) {
    sampling::store_relaxed(entry.carried_ns, std::uint64_t{0});
    sampling::store_relaxed(entry.interval_ns, before);
  }
}

void disarm_cpu_timer(sampling::ThreadEntry& entry) {
  sampling::store_release(entry.armed, std::uint32_t{0});
  if (entry.timer >= 0) {
    remove_timer(entry.timer);
    entry.timer = -1;
  }
}

} // namespace jprof::agent::engines
