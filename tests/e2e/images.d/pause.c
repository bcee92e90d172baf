// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The first process of a pod sandbox: holds its namespaces, reaps the orphans of a shared process
// namespace, and goes when told to.
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  sigprocmask(SIG_BLOCK, &wanted, NULL);
  for (;;) {
    const int signal = sigwaitinfo(&wanted, NULL);
    if (signal == SIGCHLD) {
      while (waitpid(-1, NULL, WNOHANG) > 0) {
      }
    } else if (signal > 0) {
      return 0;
    } else if (errno != EINTR) {
      return 1;
    }
  }
}
