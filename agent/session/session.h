// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One recording in this JVM, from the connection to the sidecar until only the library itself is
// left. At most one session records at a time; a second one is refused over its own socket.

#include "agent/control/options.h"
#include "agent/jvm/java_thread.h"

#include <jni.h>

#include <cstdint>

namespace jprof::agent {

// What a session's thread is started with.
struct SessionRequest {
  Options options;
  jvm::JavaThreadKey java_thread_key;
  JavaVM* java_vm = nullptr;
  bool for_other_copy = false; // a later copy of the library passed its options on
};

// Starts a thread that runs the session and ends with it. Returns at once; 0 or an errno.
int begin_session(const SessionRequest& request);

// Ends the running session because the JVM is ending; waits at most `timeout_ns`.
void end_session_for_exit(std::uint64_t timeout_ns);

} // namespace jprof::agent
