// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/time_namespace.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace jprof::container {
namespace {

using namespace std::chrono_literals;

TEST(TimeNamespace, HasTheOffsetThatTheKernelWrites) {
  EXPECT_EQ(monotonic_offset("monotonic     1000000         5\nboottime            7         0\n"),
            1000000s + 5ns);
  EXPECT_EQ(monotonic_offset("monotonic          -3 250000000\nboottime           -3         0\n"),
            -3s + 250ms);
}

TEST(TimeNamespace, HasNoOffsetThatNobodyWrote) {
  for (const char* text : {"", "boottime 7 0\n", "monotonic ", "monotonic x y\n",
                           "monotonic 7\nboottime 7 0\n", "monotonic 9223372036854775807 0\n"}) {
    EXPECT_EQ(monotonic_offset(text), 0ns) << text;
  }
}

TEST(TimeNamespace, IsOursInAProcessOfOurs) {
  const auto proc = ProcRoot::open();
  ASSERT_TRUE(proc);
  const auto self = Process::open(*proc, ::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(monotonic_ahead(*self), 0ns);
}

} // namespace
} // namespace jprof::container
