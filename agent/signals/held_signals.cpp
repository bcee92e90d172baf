// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/held_signals.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/system.h"

namespace jprof::agent {
namespace {

// Once its tracer has let go, what a thread still has to do before it runs any code of its own
// takes microseconds.
constexpr std::uint64_t kRunNs = 1'000'000;

// Not at that place in the kernel: the thread sleeps voluntarily, or has ended. `D` may be frozen
// anywhere, `t` is held by its tracer, and `T` may be on its way from there.
bool is_elsewhere(char letter) {
  return letter == 'S' || letter == 'Z' || letter == 'X';
}

} // namespace

void HeldSignals::begin() {
  count_ = 0;
  own_tid_ = os::thread_id();
  complete_ = true;
  const bool all = os::visit_threads(
      [](std::int32_t tid, void* context) { static_cast<HeldSignals*>(context)->see(tid); }, this);
  complete_ = complete_ && all;
}

void HeldSignals::see(std::int32_t tid) {
  Suspect suspect{.tid = tid, .measured = false, .cpu_ns = 0};
  if (tid == own_tid_ || !may_hold(suspect)) {
    return;
  }
  if (count_ == kMaxSuspects) {
    complete_ = false;
    return;
  }
  suspects_[count_++] = suspect;
}

std::uint32_t HeldSignals::look() {
  if (!complete_) {
    begin();
  } else {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      Suspect suspect = suspects_[i];
      if (may_hold(suspect)) {
        suspects_[left++] = suspect;
      }
    }
    count_ = left;
  }
  return complete_ || count_ != 0 ? count_ : 1;
}

bool HeldSignals::may_hold(Suspect& suspect) {
  os::ThreadState state;
  const std::uint64_t cpu = engines::thread_cpu_ns(suspect.tid);
  if (!os::read_thread_state(suspect.tid, &state)) {
    if (engines::thread_cpu_ns(suspect.tid) == 0) {
      return false; // it has ended
    }
  } else if (state.tracer != 0 || state.letter == 't') {
    suspect.measured = false;
  } else if (is_elsewhere(state.letter)) {
    return false;
  } else if (!suspect.measured) {
    suspect.measured = true;
    suspect.cpu_ns = engines::thread_cpu_ns(suspect.tid);
  } else if (cpu >= suspect.cpu_ns + kRunNs) {
    return false;
  }
  tid_ = suspect.tid;
  state_ = state;
  return true;
}

} // namespace jprof::agent
