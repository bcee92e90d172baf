// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

// JSON payloads of frames (docs/formats/protocol.md). Every parser takes foreign bytes: unknown
// members are ignored, absent ones keep the defaults below, what is required and missing, or out of
// range, is kProtocol. Times on the wire are nanoseconds (...Ns) or RFC 3339 UTC.
namespace jprof::protocol {

struct Hello {
  int protocol = 0; // newest spoken
  int min = 0;      // oldest spoken
  std::string version;
  std::vector<std::string> features; // request types that are answered: "record", "fetch", ...
};

Hello our_hello(std::vector<std::string> features);
std::string encode_hello(const Hello& hello);
base::Result<Hello> parse_hello(std::string_view payload);
// The protocol both speak, or kProtocol naming both ranges and which side to upgrade.
base::Result<int> choose_protocol(const Hello& ours, const Hello& theirs);

} // namespace jprof::protocol
