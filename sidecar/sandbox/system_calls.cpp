// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/sandbox/system_calls.h"

#include <asm/ioctls.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

// The program is made here and not by libseccomp: a list without arguments needs no compiler, and
// the image would otherwise have to build that library for each machine.
namespace jprof::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "which machine's system calls are these?"
#endif

// Numbers that the other machine, or an older kernel's headers, do not have.
#ifndef SYS_rseq
#define SYS_rseq -1
#endif
#ifndef SYS_openat2
#define SYS_openat2 -1
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 -1
#endif
#ifndef SYS_close_range
#define SYS_close_range -1
#endif

constexpr std::initializer_list<long> kAllowed = {
    // memory
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_membarrier,
    SYS_memfd_create,
    // threads and children, which have the same filter; ends of processes
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_waitid,
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_kill,
    SYS_tgkill,
    SYS_prctl,
    SYS_setpriority,
    SYS_getpriority,
    SYS_restart_syscall,
    // signals
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_signalfd4,
    SYS_eventfd2,
    SYS_pidfd_send_signal,
    // who and when
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getpgid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_capget,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_getrlimit,
    SYS_prlimit64,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    // what is open already
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_lseek,
    SYS_close,
    SYS_close_range,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_flock,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fchmod,
    SYS_ppoll,
    SYS_pselect6,
    SYS_copy_file_range,
    SYS_sendfile,
    // what is connected already: to the agent, to whoever asked, to children
    SYS_socketpair,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_shutdown,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    SYS_pipe2,
    // files, which Landlock bounds
    SYS_openat,
    SYS_openat2,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_fchmodat,
    SYS_utimensat,
    SYS_getcwd,
    SYS_umask,
#if defined(__x86_64__)
    SYS_arch_prctl,
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_link,
    SYS_chmod,
    SYS_poll,
    SYS_select,
    SYS_pipe,
    SYS_dup2,
    SYS_fork,
    SYS_vfork,
    SYS_time,
    SYS_getpgrp,
#endif
    SYS_renameat,
};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(std::uint32_t what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}

// Goes on with the next instruction if what was loaded is `value`, else `skip` further.
sock_filter if_equal(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

std::vector<sock_filter> make_program() {
  constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
  // A foreign machine's numbers mean other calls (the 32-bit gate of x86).
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
      answer(kRefused),
      load(offsetof(seccomp_data, nr)),
  };
  // No namespaces: in one of its own a process has rights. clone3(2) keeps its flags in memory,
  // where no filter sees them; the C library takes clone(2) where it is not there.
  constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  program.push_back(if_equal(SYS_clone, 4));
  program.push_back(load(offsetof(seccomp_data, args[0])));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1));
  program.push_back(answer(kRefused));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(if_equal(SYS_clone3, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  for (const long number : kAllowed) {
    if (number >= 0) {
      program.push_back(if_equal(static_cast<std::uint32_t>(number), 1));
      program.push_back(answer(SECCOMP_RET_ALLOW));
    }
  }
  // Of a terminal only what isatty(3) and the width ask: TIOCSTI would type for its user.
  program.push_back(if_equal(SYS_ioctl, 5));
  program.push_back(load(offsetof(seccomp_data, args[1])));
  program.push_back(if_equal(TCGETS, 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(if_equal(TIOCGWINSZ, 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(answer(kRefused));
  return program;
}

} // namespace

int allow_few_system_calls() {
  std::vector<sock_filter> program = make_program();
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  const long done =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  return done == 0 ? 0 : done > 0 ? EBUSY : errno; // above 0: the thread that could not
}

} // namespace jprof::sandbox
