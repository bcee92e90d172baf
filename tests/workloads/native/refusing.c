// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library that works on one thread and on another, as soon as somebody has a handler for SIGPROF,
// gives the whole process a seccomp filter that refuses to delete timers and to set them; it names
// that thread "refusing-1" then.
#include "tests/workloads/native/counted.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile double sink;

static void* work(void* unused) {
  for (long i = 0;; ++i) {
    sink = sink + i * 0.5;
  }
  return unused;
}

static void* refuse(void* unused) {
  struct sigaction now;
  do {
    usleep(1000);
    sigaction(SIGPROF, NULL, &now);
  } while (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  usleep(500000); // until the timers run
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_delete, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    abort();
  }
  count("refusing", 1);
  for (;;) {
    pause();
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_create(&thread, NULL, refuse, NULL);
}
