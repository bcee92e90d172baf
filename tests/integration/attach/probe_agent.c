// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A native agent of the tests: speaks just enough of lib/wire to prove how a library is delivered,
// loaded and connected. Options, separated by commas: "return=N" (what Agent_OnAttach returns);
// otherwise jprof's own "socket=..,nonce=..", answered by a hello on a thread of its own.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct hello {
  uint32_t type, bytes, version, min_version;
  uint8_t nonce[16];
  uint32_t pid, resident;
  char agent_version[32];
  char java_version[64];
};

static char options_copy[512];

static int value_of(const char* key, char* out, size_t room) {
  const char* at = strstr(options_copy, key);
  if (at == NULL) {
    return 0;
  }
  at += strlen(key);
  size_t length = strcspn(at, ",");
  if (length >= room) {
    return 0;
  }
  memcpy(out, at, length);
  out[length] = '\0';
  return 1;
}

static void* talk(void* unused) {
  (void)unused;
  char path[128], nonce[64];
  if (!value_of("socket=", path, sizeof path) || !value_of("nonce=", nonce, sizeof nonce)) {
    return NULL;
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr*)&address, sizeof address) == 0) {
    struct hello hello = {.type = 1, .bytes = sizeof hello, .version = 1, .min_version = 1};
    for (int i = 0; i < 16; ++i) {
      char byte[3] = {nonce[2 * i], nonce[2 * i + 1], 0};
      hello.nonce[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    hello.pid = (uint32_t)getpid();
    strcpy(hello.agent_version, "probe");
    if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello) {
      char rest[512];
      while (recv(fd, rest, sizeof rest, 0) > 0) {
      }
    }
  }
  close(fd);
  return NULL;
}

// -agentpath:...=nondumpable: a JVM that the kernel hides from processes of its own uid.
__attribute__((visibility("default"))) int Agent_OnLoad(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  if (options != NULL && strcmp(options, "nondumpable") == 0) {
    return prctl(PR_SET_DUMPABLE, 0);
  }
  return 0;
}

__attribute__((visibility("default"))) int Agent_OnAttach(void* vm, char* options, void* reserved) {
  (void)vm;
  (void)reserved;
  snprintf(options_copy, sizeof options_copy, "%s", options != NULL ? options : "");
  char code[16];
  if (value_of("return=", code, sizeof code)) {
    return atoi(code);
  }
  pthread_t thread;
  return pthread_create(&thread, NULL, talk, NULL);
}
