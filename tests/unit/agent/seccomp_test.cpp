// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/process.h"
#include "agent/os/system.h"

#include <gtest/gtest.h>

#include <array>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <thread>

namespace jprof::agent::os {
namespace {

bool add_filter_that_allows_all() {
  std::array<sock_filter, 1> code{{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program{code.size(), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Seccomp, TellsAThreadWithAFilterOfItsOwn) {
  Seccomp ours;
  Seccomp theirs;
  bool read = false;
  bool filtered = false;
  std::thread([&] {
    filtered = add_filter_that_allows_all();
    read = read_seccomp(thread_id(), &theirs);
  }).join();

  ASSERT_TRUE(filtered);
  ASSERT_TRUE(read && read_seccomp(thread_id(), &ours));
  EXPECT_EQ(theirs.mode, 2U);
  EXPECT_TRUE(ours.is_wider_than(theirs));
  EXPECT_FALSE(theirs.is_wider_than(ours));
  EXPECT_FALSE(ours.is_wider_than(ours));
}

TEST(Seccomp, WhatTheWholeProcessHasIsNoThreadsOwn) {
  const Seccomp container{.mode = 2, .filters = 1};
  const Seccomp old_kernel{.mode = 2, .filters = 0};
  EXPECT_FALSE(container.is_wider_than(container));
  EXPECT_FALSE(old_kernel.is_wider_than(old_kernel));
  EXPECT_TRUE(container.is_wider_than({.mode = 2, .filters = 2}));
  EXPECT_TRUE(container.is_wider_than({.mode = 1, .filters = 0}));
  EXPECT_TRUE(Seccomp{}.is_wider_than(old_kernel));
  EXPECT_FALSE(container.is_wider_than(Seccomp{}));
}

TEST(Seccomp, IsUnknownOfAThreadThatIsNot) {
  Seccomp seccomp;
  ThreadState state;
  ASSERT_TRUE(read_seccomp(::gettid(), &seccomp));
  ASSERT_TRUE(read_thread_state(::gettid(), &state));
  EXPECT_EQ(state.letter, 'R');
  EXPECT_FALSE(read_seccomp(0x7fffffff, &seccomp))
      << "what was read before must not be taken for it";
  ASSERT_TRUE(read_thread_state(::gettid(), &state));
  EXPECT_FALSE(read_thread_state(0x7fffffff, &state));
}

} // namespace
} // namespace jprof::agent::os
