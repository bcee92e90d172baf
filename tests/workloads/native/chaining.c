// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// An agent with handlers of its own for SIGSEGV and SIGBUS, which it puts on top each time that it
// is loaded with "on", saving what was there, and leaves there, as profilers do. A fault that is
// not its own goes to what it saved last. With "off" it puts that back. "far" is "on" from a
// handler that needs 20 KiB of stack.
#include <signal.h>
#include <stddef.h>
#include <string.h>

static struct sigaction saved[2];

static void pass_on(int signal, siginfo_t* info, void* context) {
  struct sigaction* next = &saved[signal == SIGBUS];
  if (next->sa_flags & SA_SIGINFO) {
    next->sa_sigaction(signal, info, context);
  } else {
    next->sa_handler(signal);
  }
}

static void pass_on_far(int signal, siginfo_t* info, void* context) {
  volatile char room[20 * 1024];
  room[0] = (char)signal;
  pass_on(signal, info, context);
  room[sizeof room - 1] = room[0];
}

__attribute__((visibility("default"))) int Agent_OnAttach(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  const int signals[2] = {SIGSEGV, SIGBUS};
  for (int i = 0; i < 2; ++i) {
    if (strcmp(options, "off") == 0) {
      sigaction(signals[i], &saved[i], NULL);
    } else {
      struct sigaction ours;
      sigaction(signals[i], NULL, &ours);
      ours.sa_sigaction = strcmp(options, "far") == 0 ? pass_on_far : pass_on;
      ours.sa_flags |= SA_SIGINFO;
      sigaction(signals[i], &ours, &saved[i]);
    }
  }
  return 0;
}
