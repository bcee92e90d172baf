// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stub_names.h"

#include <gtest/gtest.h>

#include <memory>

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

TEST(StubNames, FindsTheStubAroundAnAddress) {
  auto names = std::make_unique<StubNames>();
  names->code_base = kBase;
  names->stubs[names->count++] = {0x100, 0x20, 1};
  names->stubs[names->count++] = {0x120, 0x40, 2};
  names->stubs[names->count++] = {0x400, 0, 3};
  names->stubs[names->count++] = {0x400, 0x10, 4};
  const auto text_at = [&](std::uint64_t pc) {
    const StubName* found = names->find(pc);
    return found != nullptr ? found->text : 0;
  };
  EXPECT_EQ(text_at(kBase + 0x100), 1U);
  EXPECT_EQ(text_at(kBase + 0x11f), 1U);
  EXPECT_EQ(text_at(kBase + 0x120), 2U);
  EXPECT_EQ(text_at(kBase + 0x15f), 2U);
  EXPECT_EQ(text_at(kBase + 0x160), 0U); // between two
  EXPECT_EQ(text_at(kBase + 0x400), 4U); // not the empty one
  EXPECT_EQ(text_at(kBase + 0x410), 0U); // behind the last
  EXPECT_EQ(text_at(kBase + 0xff), 0U);
  EXPECT_EQ(text_at(kBase - 1), 0U);
  EXPECT_EQ(text_at(0), 0U);
}

TEST(StubNames, FindsNothingWhereNoneIsKnown) {
  const auto names = std::make_unique<StubNames>();
  EXPECT_EQ(names->find(0), nullptr);
  EXPECT_EQ(names->find(kBase), nullptr);
}

} // namespace
} // namespace jprof::agent::sampling
