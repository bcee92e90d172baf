// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"

#include <atomic>
#include <cerrno>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace jprof::agent::arch {
namespace {

std::atomic<long> g_pid{0}; // this process, while the kernel does the loads; otherwise 0

} // namespace

void let_kernel_load(bool wanted) {
  g_pid.store(wanted ? system_call(SYS_getpid) : 0);
}

bool kernel_loads() {
  return g_pid.load(std::memory_order_relaxed) != 0;
}

std::size_t copy_by_kernel(void* to, std::uint64_t from, std::size_t bytes) {
  const iovec local{.iov_base = to, .iov_len = bytes};
  const iovec remote{.iov_base = reinterpret_cast<void*>(from), .iov_len = bytes};
  const long copied =
      system_call(SYS_process_vm_readv, g_pid.load(std::memory_order_relaxed),
                  reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1, 0);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

// The kernel reads the new mask before it checks what to do with it, which is invalid here. No
// filter refuses this call: no program works without it.
bool is_readable(std::uint64_t from) {
  constexpr long kNoSuchChange = -1;
  return system_call(SYS_rt_sigprocmask, kNoSuchChange, static_cast<long>(from), 0,
                     sizeof(std::uint64_t)) == -EINVAL;
}

} // namespace jprof::agent::arch
