// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JVM's compilers record which inlined method an instruction belongs to only for calls and
// polls, unless DebugNonSafepoints is on, which they read again for each method that they compile
// (DebugInformationRecorder, src/hotspot/share/code/debugInfoRec.cpp). Without it, an inlined loop
// without a poll is attributed to its caller, with all of its time. The flag is a byte of libjvm's
// data: the only thing in the JVM that a session changes, and restores. Agent's thread only.

#include <cstdint>

namespace jprof::agent::jvm {

class InliningDetail {
 public:
  enum class Found : std::uint8_t { kNothing, kOn, kOff };

  // For what is compiled from now on; returns what it was before. Does nothing if it is on already
  // or cannot be found.
  Found turn_on();
  // Restores its previous value. Does nothing if turn_on() did nothing.
  void restore();

 private:
  std::uint8_t* flag_ = nullptr; // while it is on because of us
};

} // namespace jprof::agent::jvm
