// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/fault_handler.h"
#include "agent/sampling/handler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>

namespace jprof::agent::sampling {

// What a session does at its end, in a process whose threads hold no signals.
inline void restore_handlers() {
  guard(nullptr);
  restore_signal_handlers();
  restore_fault_handlers();
}

// A test in which loads may fault, as in a session (safe_load.h).
class ProtectedLoads : public ::testing::Test {
 protected:
  void SetUp() override {
    std::uint64_t owner = 0;
    ASSERT_EQ(install_handlers(SIGPROF, &owner), InstallError::kNone);
  }
  void TearDown() override { restore_handlers(); }
};

} // namespace jprof::agent::sampling
