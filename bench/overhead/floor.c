// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What no sampler by signals can undercut: a timer on the CPU clock of each thread, and a handler
// that does nothing. A JVMTI agent for bench/overhead. Options: the interval in nanoseconds; 0 ends
// it.

#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { kMostThreads = 4096 };
static timer_t timers[kMostThreads];
static int count;

static void nothing(int signal) {
  (void)signal;
}

static void end(void) {
  while (count > 0) {
    timer_delete(timers[--count]);
  }
  signal(SIGPROF, SIG_IGN);
}

__attribute__((visibility("default"))) int Agent_OnAttach(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  const long interval = atol(options);
  end();
  if (interval == 0) {
    return 0;
  }
  struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigaction(SIGPROF, &action, NULL);
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* entry = readdir(threads); entry != NULL && count < kMostThreads;
       entry = readdir(threads)) {
    const int tid = atoi(entry->d_name);
    if (tid == 0) {
      continue;
    }
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = tid;
    // The clock of another thread's CPU time: include/linux/posix-timers_types.h.
    const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
    if (timer_create(clock, &event, &timers[count]) == 0) {
      const struct timespec each = {.tv_sec = interval / 1000000000,
                                    .tv_nsec = interval % 1000000000};
      const struct itimerspec value = {.it_interval = each, .it_value = each};
      timer_settime(timers[count++], 0, &value, NULL);
    }
  }
  closedir(threads);
  return count > 0 ? 0 : 1;
}
