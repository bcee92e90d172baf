// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which inlined method an instruction belongs to, the JVM's compilers note for calls and polls
// only, unless DebugNonSafepoints is on, which they read anew for each method that they compile
// (DebugInformationRecorder, src/hotspot/share/code/debugInfoRec.cpp). A loop without a poll that
// was inlined is otherwise lost to its caller, with all of its time. The flag is a byte of libjvm's
// data: the one thing of the JVM's that a session changes, and puts back. Agent's thread only.

#include <cstdint>

namespace jprof::agent::jvm {

class InliningDetail {
 public:
  enum class Found : std::uint8_t { kNothing, kOn, kOff };

  // For what is compiled from now on, and says what it was before. Does nothing where it is on
  // already, or cannot be found.
  Found turn_on();
  // As it was before. Does nothing if turn_on() did nothing.
  void restore();

 private:
  std::uint8_t* flag_ = nullptr; // while it is on because of us
};

} // namespace jprof::agent::jvm
