// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// JSON payloads of frames (docs/formats/protocol.md). Every parser takes foreign bytes: unknown
// members are ignored, absent ones keep the defaults below, what is required and missing, or out of
// range, is kProtocol. Times on the wire are nanoseconds (...Ns) or RFC 3339 UTC.
namespace jprof::protocol {

struct HotMethod {
  std::string name;
  std::uint64_t self_weight = 0;
  std::uint32_t self_permille = 0;
};

// phase: "accepted", "waiting" (for a running capture), "attaching", "recording", "sealing".
struct Progress {
  std::string id;
  std::string phase;
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds duration{0};
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::vector<HotMethod> hottest;
};

std::string encode_progress(const Progress& progress);
base::Result<Progress> parse_progress(std::string_view payload);

struct ResultFile {
  std::string name; // a plain name of [A-Za-z0-9._-]: parse_result refuses any other
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0; // chunks begin here (resumed fetch)
  std::string sha256;       // of the whole file, 64 lower-case hexadecimal digits
};

// What the request came to. For record and fetch `manifest` is the capture's manifest
// (lib/capture/manifest.h) and `files` what follows in chunks, each in order of offset, the files
// in this order; then kEnd. For list `captures`, for targets `targets`.
struct ResultMessage {
  std::string id;
  int exit_code = 0;  // 0, or 6 for a partial capture that is kept
  std::string reason; // base::reason_word of it, empty for 0
  std::string message;
  std::string cure;
  base::Json manifest = base::Json::object();
  std::vector<ResultFile> files;
  base::Json captures = base::Json::array();
  base::Json targets = base::Json::array();
};

std::string encode_result(const ResultMessage& result);
base::Result<ResultMessage> parse_result(std::string_view payload);

// kError: the other side's Error, with its code by word so that both exit alike. `id` names the
// capture if there is one that can be fetched later, `busy` who is in the way.
struct ErrorMessage {
  base::Error error;
  std::string id;
  std::string busy_requester; // claimed name of the running capture's caller
  std::string busy_id;
  std::string busy_until; // RFC 3339 UTC
};

std::string encode_error(const ErrorMessage& message);
base::Result<ErrorMessage> parse_error(std::string_view payload);

} // namespace jprof::protocol
