// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/signals/call_trial.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

namespace jprof::agent {
namespace {

// From now on the calling thread is answered by `action` where it makes this call.
bool answer(int call, std::uint32_t action) {
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{code.size(), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct Outcome {
  Failure failure;
  CallTrial trial;
  bool filtered = false;
};

// A trial on a thread with that filter.
Outcome tried(int call, std::uint32_t action) {
  Outcome outcome;
  std::thread([&] {
    outcome.filtered = answer(call, action);
    outcome.failure = outcome.trial.run();
  }).join();
  EXPECT_TRUE(outcome.filtered);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL | WNOHANG), -1) << "the child has been buried";
  return outcome;
}

class CallTrialTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!os::kernel_is_at_least(5, 16)) {
      GTEST_SKIP() << "nothing is tried before Linux 5.16";
    }
  }
};

TEST_F(CallTrialTest, FindsNothingWhereAllIsAllowed) {
  const Outcome outcome = tried(-1, SECCOMP_RET_ALLOW);
  EXPECT_EQ(outcome.failure.status, wire::AgentStatus::kOk) << outcome.failure.detail;
  EXPECT_TRUE(outcome.trial.channel_works() && outcome.trial.may_receive());
}

TEST_F(CallTrialTest, NamesWhatKills) {
  for (const std::uint32_t action :
       {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP}) {
    const Outcome outcome = tried(SYS_timer_create, action);
    EXPECT_EQ(outcome.failure.status, wire::AgentStatus::kCallForbidden);
    EXPECT_EQ(std::string(outcome.failure.detail),
              "a seccomp filter kills the caller of timer_create");
    EXPECT_TRUE(outcome.trial.channel_works() && outcome.trial.may_receive());
  }
}

TEST_F(CallTrialTest, NamesWhatIsRefusedIfItIsNeeded) {
  const Outcome needed = tried(SYS_timer_create, SECCOMP_RET_ERRNO | EPERM);
  EXPECT_EQ(needed.failure.status, wire::AgentStatus::kCallForbidden);
  EXPECT_EQ(needed.failure.os_errno, EPERM);
  EXPECT_EQ(tried(SYS_mincore, SECCOMP_RET_ERRNO | EPERM).failure.status, wire::AgentStatus::kOk);
}

TEST_F(CallTrialTest, KnowsWhetherAnybodyCanBeTold) {
  const Outcome receiving = tried(SYS_recvmsg, SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(receiving.failure.status, wire::AgentStatus::kCallForbidden);
  EXPECT_TRUE(receiving.trial.channel_works());
  EXPECT_FALSE(receiving.trial.may_receive());
  EXPECT_FALSE(tried(SYS_sendto, SECCOMP_RET_KILL_PROCESS).trial.channel_works());
  EXPECT_FALSE(tried(SYS_connect, SECCOMP_RET_ERRNO | EPERM).trial.channel_works());
}

TEST_F(CallTrialTest, DoesNothingWithoutAFilter) {
  CallTrial trial;
  EXPECT_EQ(trial.run().status, wire::AgentStatus::kOk);
}

} // namespace
} // namespace jprof::agent
