// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library that gives threads of its own seccomp sandboxes: "strict", "filtered", and one
// "short-7" after another, which lives for some 30 ms and sandboxes itself first thing. Any system
// call but a few ends the process.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static volatile double sink;

__attribute__((noinline)) static void work(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    sink = sink + i * 0.5;
  }
}

static void must(int result) {
  if (result != 0) {
    abort();
  }
}

#define ALLOW(number)                                                                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// What a thread's end takes, and the return from a signal handler.
static void filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_rt_sigreturn),
      ALLOW(SYS_exit),
      ALLOW(SYS_madvise),
      ALLOW(SYS_munmap),
      ALLOW(SYS_futex),
      ALLOW(SYS_rt_sigprocmask),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void* strict(void* unused) {
  must(prctl(PR_SET_NAME, "strict"));
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
  for (;;) {
    work(1000);
  }
  return unused;
}

static void* filtered(void* unused) {
  must(prctl(PR_SET_NAME, "filtered"));
  filter();
  for (;;) {
    work(1000);
  }
  return unused;
}

static void* one_short(void* name) {
  must(prctl(PR_SET_NAME, name));
  filter();
  work(20000000);
  return NULL;
}

static void* make_short(void* unused) {
  for (int i = 0;; ++i) {
    char name[16];
    snprintf(name, sizeof name, "short-%d", i);
    pthread_t thread;
    must(pthread_create(&thread, NULL, one_short, name));
    must(pthread_join(thread, NULL));
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  must(pthread_create(&thread, NULL, strict, NULL));
  must(pthread_create(&thread, NULL, filtered, NULL));
  must(pthread_create(&thread, NULL, make_short, NULL));
}
