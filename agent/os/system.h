// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The system calls that the agent makes, without libc: no errno, no symbol versions, no wrapper
// that takes a lock. A negative result is -errno. Signal-safe, any thread.

#include "agent/arch/arch.h"

#include <cstddef>
#include <cstdint>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

namespace jprof::agent::os {

template <typename T>
long as_argument(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

inline std::int32_t process_id() {
  return static_cast<std::int32_t>(arch::system_call(SYS_getpid));
}
inline std::int32_t thread_id() {
  return static_cast<std::int32_t>(arch::system_call(SYS_gettid));
}
inline int open_readonly(const char* path) {
  return static_cast<int>(
      arch::system_call(SYS_openat, AT_FDCWD, as_argument(path), O_RDONLY | O_CLOEXEC));
}
inline long read_some(int fd, void* to, std::size_t bytes) {
  return arch::system_call(SYS_read, fd, as_argument(to), static_cast<long>(bytes));
}
inline long read_at(int fd, void* to, std::size_t bytes, long offset) {
  return arch::system_call(SYS_pread64, fd, as_argument(to), static_cast<long>(bytes), offset);
}
// Whether the first `bytes` of a file are charged to somebody else: a page that we touched first
// would be charged to the JVM's cgroup. st_blocks counts units of 512 bytes: stat(2).
inline bool is_allocated(int fd, std::uint64_t bytes) {
  struct stat status {};
  return arch::system_call(SYS_fstat, fd, as_argument(&status)) == 0 &&
         static_cast<std::uint64_t>(status.st_size) >= bytes &&
         static_cast<std::uint64_t>(status.st_blocks) * 512 >= bytes;
}
inline void close_fd(int fd) {
  arch::system_call(SYS_close, fd);
}
// 0, or -errno if the kernel would refuse to unmap anything, tried on an address that cannot be
// mapped.
inline long can_unmap() {
  constexpr long kNoPage = 1;
  const long result = arch::system_call(SYS_munmap, kNoPage, 1);
  return result == -EINVAL ? 0 : result;
}
inline long read_link(const char* path, char* to, std::size_t bytes) {
  return arch::system_call(SYS_readlinkat, AT_FDCWD, as_argument(path), as_argument(to),
                           static_cast<long>(bytes));
}
inline long wait_for_events(pollfd* fds, std::size_t count, std::int64_t timeout_ns) {
  timespec timeout{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  return arch::system_call(SYS_ppoll, as_argument(fds), static_cast<long>(count),
                           as_argument(&timeout), 0, 8);
}
inline void sleep_ns(std::int64_t nanoseconds) {
  wait_for_events(nullptr, 0, nanoseconds);
}
// 0 if the clock does not exist (a thread that has ended).
inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  if (arch::system_call(SYS_clock_gettime, clock, as_argument(&now)) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The kernel's own sigaction, so that what we restore is byte for byte what we found (and so that
// libjsig, if preloaded, does not keep our handler from being installed).
struct KernelSigaction {
  void* handler = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  std::uint64_t mask = 0;
};
inline long signal_action(int signal, const KernelSigaction* action, KernelSigaction* old) {
  return arch::system_call(SYS_rt_sigaction, signal, as_argument(action), as_argument(old), 8);
}
// A fault of a protected load must reach its handler: blocked, it would kill the process.
inline void block_all_signals_but_faults() {
  const std::uint64_t mask =
      ~(std::uint64_t{1} << (SIGSEGV - 1) | std::uint64_t{1} << (SIGBUS - 1));
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&mask), 0, 8);
}

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  __builtin_memcpy(to, from, bytes);
}

} // namespace jprof::agent::os
