// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library that takes SIGPROF over, as soon as somebody else has a handler for it, without a look
// at whose it is and when the program has worked for a while, and a tenth of a second later gives
// it back to the kernel, as old profilers do. Counts that in the name of its thread, "taken-1".
// Another thread works.
#include "tests/workloads/native/counted.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static void* work(void* unused) {
  for (long i = 0;; ++i) {
    sink = sink + i * 0.5;
  }
  return unused;
}

static void on_signal(int signal) {
  (void)signal;
}

static double worked_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void* take(void* unused) {
  for (int taken = 1;; ++taken) {
    struct sigaction now;
    do {
      usleep(1000);
      sigaction(SIGPROF, NULL, &now);
    } while (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
    for (const double begin = worked_s(); worked_s() < begin + 0.2;) {
      usleep(10000);
    }
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &ours, NULL);
    usleep(100000);
    ours.sa_handler = SIG_DFL;
    sigaction(SIGPROF, &ours, NULL);
    count("taken", taken);
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_create(&thread, NULL, take, NULL);
}
