// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/held_back.h"

#include <array>
#include <atomic>
#include <unistd.h>

namespace jprof::base {
namespace {

// Each holds a descriptor plus one; 0 is free. No lock: another thread may hold one when we fork.
std::array<std::atomic<int>, 64> held{};

void replace(int from, int to) {
  for (std::atomic<int>& one : held) {
    int expected = from;
    if (one.compare_exchange_strong(expected, to)) {
      return;
    }
  }
}

} // namespace

void hold_back(int fd) {
  replace(0, fd + 1);
}

void forget_held_back(int fd) {
  replace(fd + 1, 0);
}

void close_held_back() {
  for (std::atomic<int>& one : held) {
    if (const int fd = one.exchange(0) - 1; fd >= 0) {
      ::close(fd);
    }
  }
}

} // namespace jprof::base
