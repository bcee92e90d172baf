// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "sidecar/jvm/attach_protocol.h"
#include "sidecar/jvm/target.h"

#include <cstddef>
#include <functional>
#include <string_view>

namespace jprof::jvm {

struct AttachLimits {
  std::size_t answer_bytes = 16U << 20U; // a longer answer is cut off with kLimit
  // Called with each piece of the answer's text as it comes, after the result line. If set, the
  // reply itself holds only the first 64 KiB.
  std::function<void(std::string_view)> on_text = nullptr;
  // Called once, before the first byte of the command's answer is read.
  std::function<void()> on_connected = nullptr;
  // Checked several times a second while waiting for the JVM: true ends the wait with kInterrupted.
  std::function<bool()> stopped = nullptr;
  // Called before the JVM gets the last byte: from then on it may do what the request says, even if
  // we give up. If this has not been called, it will not.
  std::function<void()> on_handed_over = nullptr;
};

// Sends one command to the JVM and reads the answer to its end: attach, request and answer share
// one deadline. Version 2 of the protocol is used if the arguments need it and the JVM speaks it.
base::Result<AttachReply> run_command(const Target& target, const AttachCommand& command,
                                      base::Deadline deadline, const AttachLimits& limits = {});

// The conversation on a connection that an OpenJ9 JVM made: one command, and good-bye. The JVM's
// own errors and malformed answers come as a reply with code -1.
base::Result<AttachReply> exchange_openj9(int socket, const AttachCommand& command,
                                          base::Deadline deadline, const AttachLimits& limits);

// The exchange itself on a connected socket (also of a scripted server in tests).
base::Result<AttachReply> exchange(int socket, std::string_view request, base::Deadline deadline,
                                   const AttachLimits& limits);

} // namespace jprof::jvm
