// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A library whose threads leave a handler for SIGSEGV by siglongjmp(), as programs do that try out
// whether memory can be read. Once somebody has a handler for SIGPROF it puts its own for SIGSEGV
// in front of what is there. Its threads work with a frame pointer to what may not be read, in code
// that no debug information describes: each handler that looks there is left behind. "again" goes
// on with that, and "again-alt" does so with an alternate stack; "deep-N" works on 16 KiB further
// down its stack from its first jump on; "sleep-N" sleeps from then on, "masked-N" too, with the
// mask of the handler, and "end-N" ends. Their N is 1 then; the thread "jumps-N" counts the jumps
// of the first two.
#define _GNU_SOURCE
#include "tests/workloads/native/counted.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kStackBytes = 256 * 1024, kEdgeBytes = 65536 };

static __thread sigjmp_buf* back;
static struct sigaction before;
static atomic_int jumps;
static atomic_int ready;
static volatile double sink;

// Counts down with another frame pointer.
void spin_with(long rounds, void* frame_pointer);
#ifdef __aarch64__
__asm__(
    ".text\nspin_with:\n mov x9, x29\n mov x29, x1\n1: subs x0, x0, #1\n b.ne 1b\n mov x29, x9\n "
    "ret\n");
#else
__asm__(".text\nspin_with:\n push %rbp\n mov %rsi, %rbp\n1: dec %rdi\n jnz 1b\n pop %rbp\n ret\n");
#endif

// Through a pointer: nothing of the call tells a stack walker what has been called.
static void (*volatile spin)(long, void*) = spin_with;

static void on_fault(int signal, siginfo_t* info, void* context) {
  if (back != NULL) {
    siglongjmp(*back, 1);
  }
  before.sa_sigaction(signal, info, context);
}

// True once a handler has been left behind; false after some work. The mask of the time of the call
// is back, if that is wanted.
static int is_left_at_work(char* edge, int mask_too) {
  sigjmp_buf here;
  if (sigsetjmp(here, mask_too) != 0) {
    back = NULL;
    return 1;
  }
  back = &here;
  spin(1000000, edge);
  back = NULL;
  return 0;
}

__attribute__((noinline)) static void work_deep(void) {
  volatile char room[16 * 1024];
  memset((char*)room, 1, sizeof room);
  for (long i = 0;; ++i) {
    sink = sink + i * room[i % sizeof room];
  }
}

struct worker {
  char name[16];
  char* stack; // at its upper end is what may not be read
};

static void* work(void* argument) {
  const struct worker* worker = argument;
  const char* name = worker->name;
  while (!ready) {
    usleep(1000);
  }
  prctl(PR_SET_NAME, name);
  if (strcmp(name, "again-alt") == 0) {
    const stack_t alternate = {.ss_sp = malloc(kStackBytes), .ss_size = kStackBytes};
    sigaltstack(&alternate, NULL);
  }
  char* edge = worker->stack + kStackBytes;
  const int again = strncmp(name, "again", 5) == 0;
  for (int left = 0; !left || again;) {
    left = is_left_at_work(edge, strcmp(name, "masked") != 0);
    jumps += left && again;
  }
  count(name, 1);
  if (strcmp(name, "deep") == 0) {
    work_deep();
  }
  while (strcmp(name, "end") != 0) {
    pause();
  }
  return NULL;
}

static void* begin_when_sampled(void* unused) {
  struct sigaction now;
  do {
    usleep(1000);
    sigaction(SIGPROF, NULL, &now);
  } while (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  sigaction(SIGSEGV, NULL, &before);
  struct sigaction ours = before;
  ours.sa_sigaction = on_fault;
  ours.sa_flags |= SA_SIGINFO;
  sigaction(SIGSEGV, &ours, NULL);
  ready = 1;
  for (;;) {
    count("jumps", jumps);
    usleep(1000);
  }
  return unused;
}

static void start(struct worker* worker) {
  worker->stack = mmap(NULL, kStackBytes + kEdgeBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_t thread;
  if (worker->stack == MAP_FAILED ||
      mprotect(worker->stack + kStackBytes, kEdgeBytes, PROT_NONE) != 0 ||
      pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstack(&attributes, worker->stack, kStackBytes) != 0 ||
      pthread_create(&thread, &attributes, work, worker) != 0) {
    abort();
  }
}

__attribute__((constructor)) static void begin(void) {
  static struct worker workers[] = {{"again", NULL}, {"again-alt", NULL}, {"deep", NULL},
                                    {"sleep", NULL}, {"masked", NULL},    {"end", NULL}};
  for (unsigned i = 0; i < sizeof workers / sizeof workers[0]; ++i) {
    start(&workers[i]);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, begin_when_sampled, NULL);
}
