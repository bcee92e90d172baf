// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/guarded.h"
#include "sidecar/serve/process_limits.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::serve {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(MemoryPlan, StaysBelowTheContainersLimitInAll) {
  for (const std::uint64_t mib : {128U, 256U, 512U, 1024U}) {
    const MemoryPlan plan = plan_memory(mib * kMiB, 1);
    const std::uint64_t region = 16 * kMiB;
    const std::uint64_t supervisor = 8 * kMiB;
    EXPECT_LE(plan.capture + region + kMaxConnections * plan.connection + plan.upload + supervisor,
              mib * kMiB)
        << mib;
    EXPECT_GE(plan.capture, 48 * kMiB) << mib;
  }
}

TEST(MemoryPlan, SharesAmongCaptures) {
  EXPECT_LT(plan_memory(512 * kMiB, 4).capture, plan_memory(512 * kMiB, 1).capture / 3);
  EXPECT_GE(plan_memory(1, 1000).capture, 16 * kMiB); // never nothing
}

int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(guarded(work));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(LimitThisProcess, TurnsTooMuchMemoryIntoAFailureOfThatProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow does not fit into any limit";
#endif
  EXPECT_EQ(in_child([] {
              if (!limit_this_process(32 * kMiB, 0)) {
                return 1;
              }
              std::vector<char> fits(8 * kMiB, 'x');
              std::vector<char> too_much(64 * kMiB, 'x');
              return static_cast<int>(fits[1]) + too_much[2];
            }),
            kNoMemoryLeft);
}

TEST(LimitThisProcess, LetsAChildHaveMoreThanItsParent) {
  // As a capture has more than the connection that it is forked from; and it has threads.
  EXPECT_EQ(in_child([] {
              if (!limit_this_process(6 * kMiB, 0) || !limit_this_process(24 * kMiB, 0)) {
                return 1;
              }
              std::vector<char> fits(12 * kMiB, 'x');
              int ran = 0;
              std::thread([&ran] { ++ran; }).join();
              return fits[1] == 'x' && ran == 1 ? 0 : 2;
            }),
            0);
}

TEST(LimitThisProcess, TurnsATooLongFileIntoAnErrorOfTheWrite) {
  EXPECT_EQ(in_child([] {
              if (!limit_this_process(0, 4096)) {
                return 1;
              }
              const int fd = ::open("/tmp", O_TMPFILE | O_WRONLY, 0600);
              const std::vector<char> data(8192, 'x');
              const bool first = ::write(fd, data.data(), data.size()) == 4096;
              const bool second = ::write(fd, data.data(), data.size()) == -1 && errno == EFBIG;
              return first && second ? 0 : 2;
            }),
            0);
}

TEST(LimitThisProcess, LeavesNoCore) {
  EXPECT_EQ(in_child([] {
              rlimit core{};
              return limit_this_process(0, 0) && ::getrlimit(RLIMIT_CORE, &core) == 0 &&
                             core.rlim_cur == 0 && core.rlim_max == 0
                         ? 0
                         : 1;
            }),
            0);
}

} // namespace
} // namespace jprof::serve
