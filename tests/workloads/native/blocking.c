// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library with two threads that work where a stack walker cannot but read what is not there: the
// last words of a stack, behind which nothing is mapped, in code that no debug information
// describes. "deaf" blocks the signals of faults, "deaf-all" every signal but SIGPROF.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { kStackBytes = 65536, kLeft = 16 };

// Counts down on another stack.
void spin_on(long rounds, void* stack);
#ifdef __aarch64__
__asm__(
    ".text\nspin_on:\n mov x9, sp\n mov sp, x1\n1: subs x0, x0, #1\n b.ne 1b\n mov sp, x9\n ret\n");
#else
__asm__(".text\nspin_on:\n mov %rsp, %rdx\n mov %rsi, %rsp\n1: dec %rdi\n jnz 1b\n mov %rdx, "
        "%rsp\n ret\n");
#endif

static void* work(void* name) {
  prctl(PR_SET_NAME, name);
  char* stack =
      mmap(NULL, 2 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack + kStackBytes, kStackBytes, PROT_NONE) != 0) {
    abort();
  }
  sigset_t blocked;
  if (((const char*)name)[4] == 0) {
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGSEGV);
    sigaddset(&blocked, SIGBUS);
  } else {
    sigfillset(&blocked);
    sigdelset(&blocked, SIGPROF);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  for (;;) {
    spin_on(1000000, stack + kStackBytes - kLeft);
  }
  return NULL;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, "deaf");
  pthread_create(&thread, NULL, work, "deaf-all");
}
