// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One recording in this JVM, from the connection to the sidecar until nothing of it is left but the
// library itself. At most one records at a time; a second one is told so on its own socket.

#include "agent/control/options.h"
#include "agent/jvm/java_thread.h"

#include <jni.h>

#include <cstdint>

namespace jprof::agent {

// What a session thread is started with.
struct SessionRequest {
  Options options;
  jvm::JavaThreadKey java_thread_key;
  JavaVM* java_vm = nullptr;
  bool for_other_copy = false; // a later copy of the library handed its options over
};

// Starts a thread that runs the session and ends with it. Returns at once; 0 or an errno.
int begin_session(const SessionRequest& request);

// Ends the running session, because the JVM ends; waits at most `timeout_ns`.
void end_session_for_exit(std::uint64_t timeout_ns);

} // namespace jprof::agent
