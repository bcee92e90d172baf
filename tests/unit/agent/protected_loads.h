// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/handler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>

namespace jprof::agent::sampling {

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
