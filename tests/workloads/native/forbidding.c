// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A launcher: forbidding CALL ACTION PROGRAM [ARGUMENT...] becomes PROGRAM under a seccomp filter
// that answers the system call CALL by ACTION: "kill" (the process), "thread" (kills the thread),
// "trap", or "refuse" (EPERM). What PROGRAM starts inherits it.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned value;
} kCalls[] = {{"timer_create", SYS_timer_create},
              {"timer_settime", SYS_timer_settime},
              {"recvmsg", SYS_recvmsg},
              {"rt_sigtimedwait", SYS_rt_sigtimedwait}},
  kActions[] = {{"kill", SECCOMP_RET_KILL_PROCESS},
                {"thread", SECCOMP_RET_KILL_THREAD},
                {"trap", SECCOMP_RET_TRAP},
                {"refuse", SECCOMP_RET_ERRNO | EPERM}};

int main(int count, char** arguments) {
  unsigned call = 0;
  unsigned action = 0;
  for (unsigned i = 0; count > 3 && i < sizeof kCalls / sizeof kCalls[0]; ++i) {
    call = strcmp(arguments[1], kCalls[i].name) == 0 ? kCalls[i].value : call;
  }
  for (unsigned i = 0; count > 3 && i < sizeof kActions / sizeof kActions[0]; ++i) {
    action = strcmp(arguments[2], kActions[i].name) == 0 ? kActions[i].value : action;
  }
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (call == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    return 2;
  }
  execvp(arguments[3], arguments + 3);
  perror(arguments[3]);
  return 2;
}
