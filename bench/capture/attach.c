// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What no profiler that attaches can undercut: asks a JVM that runs as this user, in these
// namespaces, to load a library, and does nothing else; believes everything, checks nothing.
// Usage: attach PID LIBRARY OPTIONS

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { kLooks = 20000 }; // each 0.5 ms: ten seconds

int main(int count, char** words) {
  if (count != 4) {
    return 2;
  }
  const int pid = atoi(words[1]);
  char trigger[64];
  struct sockaddr_un listener = {.sun_family = AF_UNIX};
  snprintf(trigger, sizeof trigger, "/tmp/.attach_pid%d", pid);
  snprintf(listener.sun_path, sizeof listener.sun_path, "/tmp/.java_pid%d", pid);
  const int file = open(trigger, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 || kill(pid, SIGQUIT) != 0) {
    perror(trigger);
    return 1;
  }
  const int channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int looks = 0;
  while (connect(channel, (const struct sockaddr*)&listener, sizeof listener) != 0) {
    if (++looks == kLooks) {
      perror(listener.sun_path);
      return 1;
    }
    const struct timespec pause = {.tv_nsec = 500000};
    nanosleep(&pause, NULL);
  }
  unlink(trigger);
  // Version 1 of the protocol: each word with the zero byte behind it.
  char request[4096];
  const int length = snprintf(request, sizeof request, "1%cload%c%s%ctrue%c%s%c", 0, 0, words[2], 0,
                              0, words[3], 0);
  char answer[256];
  if (length >= (int)sizeof request || write(channel, request, (size_t)length) != length ||
      read(channel, answer, sizeof answer) <= 0) {
    perror("load");
    return 1;
  }
  return answer[0] == '0' ? 0 : 1;
}
