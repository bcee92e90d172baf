// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/control/failure.h"

namespace jprof::agent {

// Whether a seccomp filter lets us make the system calls that a JVM may never have made before. Its
// answer to one may be to end the process, so a child that has only its memory in common with the
// JVM makes them first. Nothing is done where there is no filter, or where the kernel (before 5.16)
// would let such a child take the JVM with it. Agent's thread, before anything else of a session.
class CallTrial {
 public:
  // Why no session can be, which is told over the channel if that is possible at all.
  Failure run();
  // False where a call that the channel itself needs is deadly: then nobody can be told.
  bool channel_works() const { return channel_works_; }
  // True where what a sidecar says can be read.
  bool may_receive() const { return may_receive_; }

 private:
  bool channel_works_ = true;
  bool may_receive_ = true;
};

} // namespace jprof::agent
