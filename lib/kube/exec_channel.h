// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

// The subprotocols v4 and v5 of channel.k8s.io (KEP-4006): each binary WebSocket message is one
// channel byte and a payload. v5 adds channel 255, which half-closes another one.
namespace jprof::kube {

enum class Channel : std::uint8_t {
  kStdin = 0,
  kStdout = 1,
  kStderr = 2,
  kError = 3, // one Status object, when the command has ended
  kResize = 4,
  kClose = 255, // v5 only: the payload is the channel that ends
};

std::string encode_channel(Channel channel, std::string_view payload);

struct ChannelMessage {
  Channel channel = Channel::kStdout;
  std::string_view payload; // views what was decoded
};

// kProtocol for an empty message or a channel that a server never sends.
base::Result<ChannelMessage> decode_channel(std::string_view message);

// How the command ended: its exit code, or why it could not be run (kNoSidecar: no such program or
// container; else kUnavailable).
base::Result<int> parse_exit(std::string_view status_payload);

} // namespace jprof::kube
