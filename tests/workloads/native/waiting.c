// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library with a thread that works with all signals blocked but those of faults, and between its
// turns takes what has been sent to it, as threads do that handle a program's signals. It counts
// each SIGPROF in its name, "handed-7"; after 2 s of CPU time it blocks nothing any more.
#include "tests/workloads/native/counted.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile double sink;

static void turn(void) {
  for (int i = 0; i < 1000000; ++i) {
    sink = sink + i * 0.5;
  }
}

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void* work(void* unused) {
  sigset_t blocked;
  sigset_t wanted;
  sigfillset(&blocked);
  sigdelset(&blocked, SIGSEGV);
  sigdelset(&blocked, SIGBUS);
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGPROF);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  struct sigaction now;
  do { // until somebody samples
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
    sigaction(SIGPROF, NULL, &now);
  } while (now.sa_handler == SIG_DFL);
  int handed = 0;
  const long begin = cpu_ms();
  count("handed", handed);
  while (cpu_ms() < begin + 2000) {
    const struct timespec none = {0, 0};
    turn();
    if (sigtimedwait(&wanted, NULL, &none) == SIGPROF) {
      count("handed", ++handed);
    }
  }
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  for (;;) {
    turn();
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
}
