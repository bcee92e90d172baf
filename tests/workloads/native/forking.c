// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library that forks one child after another from a thread named "forked-7". Some work on and get
// the sampling signal, with whatever handler they have inherited; others become a shell that looks
// for files of ours. If a child ends otherwise than it should, so does the JVM.
#include "tests/workloads/native/counted.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double sink;

static void work_and_signal(void) {
  struct sigaction now;
  sigaction(SIGPROF, NULL, &now);
  for (int i = 0; i < 10000000; ++i) {
    sink = sink + i * 0.5;
    if (i % 1000000 == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) {
      raise(SIGPROF);
    }
  }
}

static void* fork_on(void* unused) {
  for (int i = 1;; ++i) {
    const pid_t child = fork();
    if (child == 0 && (i % 2 == 0 || access("/bin/sh", X_OK) != 0)) {
      work_and_signal();
      _exit(0);
    }
    if (child == 0) {
      execl("/bin/sh", "sh", "-c",
            "readlink /proc/self/fd/* | grep -q memfd:jprof && exit 1; exit 0", (char*)NULL);
      _exit(2);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      fprintf(stderr, "child %d ended with status %x\n", i, (unsigned)status);
      abort();
    }
    count("forked", i);
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, fork_on, NULL);
}
