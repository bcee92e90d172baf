// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What no sampler by signals can undercut: a timer on the CPU clock of each thread, or an event of
// perf's software clock, and a handler that does nothing. A JVMTI agent for bench/overhead.
// Options: cpu-timer=NANOSECONDS, perf-clock=NANOSECONDS, or end.

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMaxThreads = 4096 };
static timer_t timers[kMaxThreads];
static int timer_count;
static int events[kMaxThreads];
static int event_count;

static void nothing(int signal) {
  (void)signal;
}

static void end(void) {
  while (timer_count > 0) {
    timer_delete(timers[--timer_count]);
  }
  while (event_count > 0) {
    close(events[--event_count]);
  }
  signal(SIGPROF, SIG_IGN);
}

static void arm_timer(int tid, long interval) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  event._sigev_un._tid = tid;
  // The clock of another thread's CPU time: include/linux/posix-timers_types.h.
  const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
  if (timer_create(clock, &event, &timers[timer_count]) == 0) {
    const struct timespec each = {.tv_sec = interval / 1000000000,
                                  .tv_nsec = interval % 1000000000};
    const struct itimerspec value = {.it_interval = each, .it_value = each};
    timer_settime(timers[timer_count++], 0, &value, NULL);
  }
}

static void arm_event(int tid, long interval) {
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attributes,
                                       .config = PERF_COUNT_SW_CPU_CLOCK,
                                       .sample_period = (unsigned long)interval,
                                       .wakeup_events = 1};
  const int event =
      (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (event >= 0) {
    const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
    fcntl(event, F_SETSIG, SIGPROF);
    fcntl(event, F_SETOWN_EX, &owner);
    fcntl(event, F_SETFL, O_ASYNC);
    events[event_count++] = event;
  }
}

__attribute__((visibility("default"))) int Agent_OnAttach(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  end();
  const char* number = strchr(options, '=');
  if (number == NULL) {
    return 0;
  }
  const long interval = atol(number + 1);
  struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigaction(SIGPROF, &action, NULL);
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* entry = readdir(threads);
       entry != NULL && timer_count < kMaxThreads && event_count < kMaxThreads;
       entry = readdir(threads)) {
    const int tid = atoi(entry->d_name);
    if (tid != 0) {
      (options[0] == 'p' ? arm_event : arm_timer)(tid, interval);
    }
  }
  closedir(threads);
  return timer_count + event_count > 0 ? 0 : 1;
}
