// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "lib/wire/control.h"
#include "sidecar/symbols/symbolizer.h"

#include <chrono>
#include <cstdint>
#include <deque>

namespace jprof::record {

// Asks the agent for the symbols of modules whose files the symbolizer cannot use, one at a time.
// The agent copies them into a memfd of ours; what it says about them is checked before use. While
// an answer is due, samples should stay in the ring, so that they get their names; the total time
// for that is limited for the whole recording. One thread at a time.
class SymbolSupply {
 public:
  using Clock = std::chrono::steady_clock;

  // The socket is a connected agent's and the caller's.
  SymbolSupply(int socket, symbols::Symbolizer& symbolizer)
      : socket_(socket), symbolizer_(symbolizer) {}

  // The module table has changed.
  void look(Clock::time_point now);
  // True if the names of addresses have changed.
  bool take(const wire::SymbolsMessage& message, Clock::time_point now);
  // True while samples should wait.
  bool holds_back(Clock::time_point now);

 private:
  void ask(Clock::time_point now);

  int socket_;
  symbols::Symbolizer& symbolizer_;
  std::deque<symbols::Module> wanted_; // if there is a memfd, the first one is awaited
  base::UniqueFd memory_;
  std::uint64_t bytes_ = 0;
  Clock::time_point asked_at_{};
  Clock::duration waited_{0}; // for all answers
  bool silent_ = false;       // no answer came: the agent does not know this message
};

} // namespace jprof::record
