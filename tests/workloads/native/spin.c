// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library that works in a function of its own, on a thread of its own, as soon as it is loaded.
#include <pthread.h>
#include <stddef.h>

static volatile double sink;

__attribute__((noinline, visibility("default"))) void jprof_test_spin(void) {
  for (int i = 0; i < 1000000; ++i) {
    sink = sink + i * 0.5;
  }
}

static void* run(void* unused) {
  for (;;) {
    jprof_test_spin();
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
}
