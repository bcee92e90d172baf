// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/retirement.h"

#include "agent/os/system.h"
#include "agent/sampling/handler.h"
#include "agent/signals/held_signals.h"

namespace jprof::agent {
namespace {

constexpr std::int64_t kFirstPauseNs = 2'000'000;
constexpr std::int64_t kMaxPauseNs = 250'000'000;

// Between the thread that looks, and may then remove the handlers, and the one that installs them.
// Neither is a handler; a look takes milliseconds.
std::atomic<bool> g_locked{false};
std::atomic<std::uint32_t> g_owner{0};
std::uint32_t g_looked_for = 0; // the owner for which g_held was begun
HeldSignals g_held;

class Lock {
 public:
  Lock() {
    while (g_locked.exchange(true)) {
      os::sleep_ns(1'000'000);
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { g_locked.store(false); }
};

// True if this owner has nothing left to do.
bool try_to_retire(std::uint32_t number, wire::HandlerLeft* left) {
  const Lock lock;
  *left = {};
  if (g_owner.load() != number) {
    return true;
  }
  if (g_looked_for != number) {
    g_looked_for = number;
    g_held.begin();
  }
  const std::uint32_t threads = g_held.look();
  if (threads == 0) {
    sampling::restore_signal_handlers();
    return true;
  }
  left->threads = threads;
  left->tid = static_cast<std::uint32_t>(g_held.tid());
  left->tracer = static_cast<std::uint32_t>(g_held.state().tracer);
  left->state = static_cast<std::uint32_t>(g_held.state().letter);
  return false;
}

} // namespace

std::uint32_t claim_handlers() {
  const Lock lock;
  return g_owner.fetch_add(1) + 1;
}

void retire_handlers(std::uint32_t number, std::uint64_t patience_ns,
                     const std::atomic<bool>& vm_exits, wire::HandlerLeft* left) {
  const std::uint64_t deadline = os::clock_ns(CLOCK_MONOTONIC) + patience_ns;
  std::int64_t pause = kFirstPauseNs;
  while (!try_to_retire(number, left)) {
    if (vm_exits.load() || os::clock_ns(CLOCK_MONOTONIC) >= deadline) {
      return;
    }
    os::sleep_ns(pause);
    pause = pause * 2 < kMaxPauseNs ? pause * 2 : kMaxPauseNs;
  }
}

} // namespace jprof::agent
