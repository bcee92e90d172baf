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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

// The program is assembled here and not by libseccomp: a list without arguments needs no compiler,
// and otherwise the image would have to build that library for each machine.
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

// What no process needs that looks for a JVM, attaches to it and loads the agent: other programs,
// other processes' memory, mounts and namespaces, and the ways around this list.
constexpr std::initializer_list<long> kGivenUp = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    438, // pidfd_getfd; numbers from 424 on are the same on all machines
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    428, // open_tree
    429, // move_mount
    430, // fsopen
    431, // fsconfig
    432, // fsmount
    433, // fspick
    442, // mount_setattr
    SYS_setns,
    SYS_unshare,
    SYS_open_by_handle_at,
    425, // io_uring_setup, whose requests no filter sees
    426, // io_uring_enter
    427, // io_uring_register
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_acct,
    SYS_swapon,
    SYS_swapoff,
    SYS_personality,
};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(std::uint32_t what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}

// Continues with the next instruction if the loaded value is `value`, otherwise skips to `skip`.
sock_filter if_equal(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;

// How each program begins: it loads the call's number and refuses what every program refuses.
std::vector<sock_filter> begin_program() {
  // A foreign machine's numbers mean other calls (the 32-bit gate of x86).
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
      answer(kRefused),
      load(offsetof(seccomp_data, nr)),
  };
  // No namespaces: in a namespace of its own a process has rights. clone3(2) keeps its flags in
  // memory, where no filter sees them; the C library uses clone(2) if it is missing.
  constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  program.push_back(if_equal(SYS_clone, 4));
  program.push_back(load(offsetof(seccomp_data, args[0])));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1));
  program.push_back(answer(kRefused));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(if_equal(SYS_clone3, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  return program;
}

std::vector<sock_filter> make_allowing_program() {
  std::vector<sock_filter> program = begin_program();
  for (const long number : kAllowed) {
    if (number >= 0) {
      program.push_back(if_equal(static_cast<std::uint32_t>(number), 1));
      program.push_back(answer(SECCOMP_RET_ALLOW));
    }
  }
  // On a terminal, only what isatty(3) and the width ask for: TIOCSTI would type for its user.
  program.push_back(if_equal(SYS_ioctl, 5));
  program.push_back(load(offsetof(seccomp_data, args[1])));
  program.push_back(if_equal(TCGETS, 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(if_equal(TIOCGWINSZ, 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(answer(kRefused));
  return program;
}

std::vector<sock_filter> make_refusing_program(Network network) {
  std::vector<sock_filter> program = begin_program();
#if defined(__x86_64__)
  // The same calls once more, for programs with pointers of four bytes.
  constexpr std::uint32_t kX32 = 0x40000000;
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1));
  program.push_back(answer(kRefused));
#endif
  for (const long number : kGivenUp) {
    program.push_back(if_equal(static_cast<std::uint32_t>(number), 1));
    program.push_back(answer(kRefused));
  }
  if (network == Network::kNone) {
    program.push_back(if_equal(SYS_socket, 4));
    program.push_back(load(offsetof(seccomp_data, args[0])));
    program.push_back(if_equal(AF_UNIX, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
    program.push_back(answer(kRefused));
  }
  program.push_back(answer(SECCOMP_RET_ALLOW));
  return program;
}

int install(std::vector<sock_filter> program) {
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  const long done =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  return done == 0 ? 0 : done > 0 ? EBUSY : errno; // above 0: the thread that could not
}

} // namespace

int allow_few_system_calls() {
  return install(make_allowing_program());
}

int refuse_some_system_calls(Network network) {
  return install(make_refusing_program(network));
}

} // namespace jprof::sandbox
