// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/fault_handler.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace jprof::agent::sampling {
namespace {

template <int kNumber>
void on_foreign_fault(int) {
  std::_Exit(100 + kNumber);
}
constexpr std::array<void (*)(int), 9> kForeign = {
    on_foreign_fault<0>, on_foreign_fault<1>, on_foreign_fault<2>,
    on_foreign_fault<3>, on_foreign_fault<4>, on_foreign_fault<5>,
    on_foreign_fault<6>, on_foreign_fault<7>, on_foreign_fault<8>};

void (*handler_now())(int) {
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  return now.sa_handler;
}

// Eight have come to stay, one after another, each in place of the one before.
void replace_eight() {
  for (std::size_t i = 0; i < 8; ++i) {
    std::signal(SIGSEGV, kForeign[i]);
    if (!install_fault_handlers() || handler_now() == kForeign[i]) {
      std::_Exit(1);
    }
    restore_fault_handlers();
    if (handler_now() != kForeign[i]) {
      std::_Exit(2);
    }
  }
}

// In processes of their own: an entry point that is used up stays so.
TEST(FaultHandlerDeathTest, IsRefusedToTheNinthActionAndLeavesItInPlace) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer keeps the handlers that std::signal() sets to itself";
#endif
  EXPECT_EXIT(
      {
        replace_eight();
        std::signal(SIGSEGV, kForeign[8]);
        const bool installed = install_fault_handlers();
        std::_Exit(!installed && handler_now() == kForeign[8] ? 0 : 3);
      },
      testing::ExitedWithCode(0), "");
}

TEST(FaultHandlerDeathTest, StillServesThoseItKnows) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer keeps the handlers that std::signal() sets to itself";
#endif
  EXPECT_EXIT(
      {
        replace_eight();
        std::signal(SIGSEGV, kForeign[8]);
        install_fault_handlers();
        std::signal(SIGSEGV, kForeign[3]);
        if (!install_fault_handlers() || handler_now() == kForeign[3]) {
          std::_Exit(4);
        }
        std::raise(SIGSEGV); // no load of ours: it goes to the one that was replaced
      },
      testing::ExitedWithCode(103), "");
}

} // namespace
} // namespace jprof::agent::sampling
