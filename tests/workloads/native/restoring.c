// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A crash reporter that leaves at the worst moment: it saves the JVM's handler of SIGSEGV, has one
// of its own, and puts back what it saved, without a look at who is in front, as soon as somebody
// else is.
#include "tests/workloads/native/counted.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static struct sigaction saved;

static void report(int signal, siginfo_t* info, void* context) {
  saved.sa_sigaction(signal, info, context);
}

static void* leave(void* unused) {
  struct sigaction now;
  do {
    usleep(300);
    sigaction(SIGSEGV, NULL, &now);
  } while (now.sa_sigaction == report);
  sigaction(SIGSEGV, &saved, NULL);
  count("restored", 1);
  pause();
  return unused;
}

__attribute__((visibility("default"))) int JNI_OnLoad(void* vm, void* reserved) {
  (void)vm;
  (void)reserved;
  struct sigaction ours;
  sigaction(SIGSEGV, NULL, &ours);
  ours.sa_sigaction = report;
  sigaction(SIGSEGV, &ours, &saved);
  pthread_t thread;
  return pthread_create(&thread, NULL, leave, NULL) == 0 ? 0x00010006 : -1;
}
