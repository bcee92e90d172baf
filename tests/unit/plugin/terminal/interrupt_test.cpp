// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/terminal/interrupt.h"

#include <gtest/gtest.h>

#include <poll.h>

namespace jprof::plugin {
namespace {

bool readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

TEST(Interrupt, WakesWhoeverHasSeenFewer) {
  const auto interrupt = std::move(*Interrupt::create());

  EXPECT_FALSE(readable(interrupt->wake_fd(0)));
  interrupt->raise();
  EXPECT_EQ(interrupt->count(), 1);
  EXPECT_TRUE(readable(interrupt->wake_fd(0)));
  EXPECT_TRUE(readable(interrupt->wake_fd(0))); // for any number of threads
  EXPECT_FALSE(readable(interrupt->wake_fd(1)));
  interrupt->raise();
  EXPECT_TRUE(readable(interrupt->wake_fd(1)));
  EXPECT_EQ(interrupt->wake_fd(2), -1);
}

} // namespace
} // namespace jprof::plugin
