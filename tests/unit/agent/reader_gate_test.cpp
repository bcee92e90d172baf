// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/reader_gate.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace jprof::agent::sampling {
namespace {

TEST(ReaderGate, IsIdleOnlyWhenAllHaveLeft) {
  ReaderGate gate;

  const std::uint32_t copy = gate.enter();
  gate.switch_to(1 - copy);

  EXPECT_FALSE(gate.idle(copy));
  EXPECT_EQ(gate.enter(), 1 - copy);
  gate.leave(copy);
  EXPECT_TRUE(gate.idle(copy));
}

// The interleaving that must not happen: a reader looks up the active copy, is overtaken by a
// switch and by "nobody is in there", and then uses a copy that is being rewritten.
TEST(ReaderGate, NeverLetsAReaderUseACopyThatIsRewritten) {
  ReaderGate gate;
  std::atomic<int> copies[2] = {0, 0};
  std::atomic<bool> end{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!end) {
        const std::uint32_t copy = gate.enter();
        torn += copies[copy].load() % 2; // odd while it is rewritten
        gate.leave(copy);
      }
    });
  }

  for (int rewrites = 0; rewrites < 20000;) {
    const std::uint32_t spare = 1 - gate.active();
    if (gate.idle(spare)) {
      copies[spare].fetch_add(1);
      copies[spare].fetch_add(1);
      gate.switch_to(spare);
      ++rewrites;
    }
  }
  end = true;
  for (auto& reader : readers) {
    reader.join();
  }

  EXPECT_EQ(torn, 0);
}

} // namespace
} // namespace jprof::agent::sampling
