// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/process_limits.h"

#include "sidecar/container/memory_group.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <string>
#include <sys/resource.h>

namespace jprof::serve {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

// kKept leaves the hard limit: a capture is a child of a connection and may have more.
enum class Hard { kKept, kLowered };

base::Status set_limit(__rlimit_resource_t resource, std::uint64_t bytes, Hard hard,
                       const char* name) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) {
    return base::errno_failure(errno, std::string("cannot read ") + name);
  }
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  if (hard == Hard::kLowered) {
    limit.rlim_max = limit.rlim_cur;
  }
  if (::setrlimit(resource, &limit) != 0) {
    return base::errno_failure(errno, std::string("cannot set ") + name);
  }
  return {};
}

// The sanitizers' shadow memory is terabytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kShadowMemory = true;
#else
constexpr bool kShadowMemory = false;
#endif

// RLIMIT_DATA counts the whole of a thread's stack, used or not, and the usual 8 MiB are a third of
// what a capture may have in a container of 128 MiB. Ours need a few KiB.
void make_thread_stacks_small() {
  constexpr std::size_t kStackBytes = 512 * 1024;
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) == 0) {
    if (::pthread_attr_setstacksize(&attributes, kStackBytes) == 0) {
      static_cast<void>(::pthread_setattr_default_np(&attributes));
    }
    ::pthread_attr_destroy(&attributes);
  }
}

} // namespace

MemoryPlan plan_memory(std::uint64_t container_limit, std::uint64_t concurrent_captures) {
  constexpr std::uint64_t kSupervisor = 8 * kMiB;
  constexpr std::uint64_t kRegion = 16 * kMiB; // shared memory: our cgroup pays for it
  constexpr std::uint64_t kMinCapture = 16 * kMiB;
  const std::uint64_t whole =
      container_limit == 0 ? 1024 * kMiB : std::clamp(container_limit, 96 * kMiB, 1024 * kMiB);
  const std::uint64_t captures = std::max<std::uint64_t>(1, concurrent_captures);
  MemoryPlan plan;
  plan.connection = whole * 3 / 64; // four of them: 3/16
  plan.upload = whole / 8;
  const std::uint64_t taken =
      kSupervisor + plan.upload + kMaxConnections * plan.connection + captures * kRegion;
  const std::uint64_t left = whole > taken ? (whole - taken) / captures : 0;
  plan.capture = std::max(left, kMinCapture);
  return plan;
}

std::uint64_t container_memory_limit() {
  return container::least_limit(container::own_memory_groups()).value_or(0);
}

base::Status limit_this_process(std::uint64_t memory_bytes, std::uint64_t file_bytes) {
  JPROF_TRY(set_limit(RLIMIT_CORE, 0, Hard::kLowered, "RLIMIT_CORE"));
  if (file_bytes != 0) {
    std::signal(SIGXFSZ, SIG_IGN); // the write fails with EFBIG instead
    JPROF_TRY(set_limit(RLIMIT_FSIZE, file_bytes, Hard::kKept, "RLIMIT_FSIZE"));
  }
  if (memory_bytes != 0 && !kShadowMemory) {
    make_thread_stacks_small();
    JPROF_TRY(set_limit(RLIMIT_DATA, memory_bytes, Hard::kKept, "RLIMIT_DATA"));
  }
  return {};
}

} // namespace jprof::serve
