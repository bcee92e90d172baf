// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/exec_channel.h"

#include "lib/base/encoding.h"
#include "lib/kube/api_status.h"

#include <charconv>

namespace jprof::kube {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxMessageLength = 1000;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The kubelet passes on the runtime's own words; these, of containerd and CRI-O, mean that a
// program is missing. The kubelet's own "container not found" is not among them: that container is
// not running at the moment, but starting or restarting.
bool names_nothing_to_run(std::string_view message) {
  if (contains(message, "container not found")) {
    return false;
  }
  return contains(message, "no such file") || contains(message, "not found") ||
         contains(message, "executable file");
}

} // namespace

std::string encode_channel(Channel channel, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 1);
  out.push_back(static_cast<char>(channel));
  out.append(payload);
  return out;
}

base::Result<ChannelMessage> decode_channel(std::string_view message) {
  if (message.empty()) {
    return base::make_failure(ErrorCode::kProtocol, "an exec message without a channel");
  }
  const auto number = static_cast<std::uint8_t>(message[0]);
  switch (static_cast<Channel>(number)) {
  case Channel::kStdout:
  case Channel::kStderr:
  case Channel::kError:
  case Channel::kClose:
    return ChannelMessage{static_cast<Channel>(number), message.substr(1)};
  // Servers open a stream by an empty message on each channel, stdin included.
  case Channel::kStdin:
  case Channel::kResize:
    if (message.size() == 1) {
      return ChannelMessage{static_cast<Channel>(number), {}};
    }
    break;
  }
  return base::make_failure(ErrorCode::kProtocol,
                            "an exec message on channel " + std::to_string(number));
}

base::Result<int> parse_exit(std::string_view status_payload) {
  JPROF_TRY_ASSIGN(const ApiStatus status, parse_api_status(status_payload));
  if (status.status == "Success") {
    return 0;
  }
  if (status.reason == "NonZeroExitCode") {
    for (const ApiStatus::Cause& cause : status.causes) {
      int code = 0;
      const char* end = cause.message.data() + cause.message.size();
      if (cause.reason == "ExitCode" &&
          std::from_chars(cause.message.data(), end, code).ptr == end && code > 0) {
        return code;
      }
    }
    return base::make_failure(ErrorCode::kProtocol, "the exec ended without an exit code");
  }
  const std::string text = base::printable(status.message, kMaxMessageLength);
  return base::make_failure(names_nothing_to_run(status.message) ? ErrorCode::kNoSidecar
                                                                 : ErrorCode::kUnavailable,
                            "the kubelet could not run the command: " + text);
}

} // namespace jprof::kube
