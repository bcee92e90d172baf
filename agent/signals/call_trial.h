// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/control/failure.h"

namespace jprof::agent {

// Whether a seccomp filter lets us make the system calls that a JVM may never have made before. It
// may end the process for making one, so a child that shares only its memory with the JVM makes
// them first. Does nothing if there is no filter, or if the kernel (before 5.16) would end the JVM
// together with such a child. Agent's thread, before anything else of a session.
class CallTrial {
 public:
  // Why no session is possible; the channel reports it if that works at all.
  Failure run();
  // False if a call that the channel itself needs is deadly: then nobody can be told.
  bool channel_works() const { return channel_works_; }
  // True if the sidecar's messages can be read.
  bool may_receive() const { return may_receive_; }

 private:
  bool channel_works_ = true;
  bool may_receive_ = true;
};

} // namespace jprof::agent
