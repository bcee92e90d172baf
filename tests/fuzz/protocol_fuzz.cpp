// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/check.h"
#include "lib/protocol/file_check.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"

#include <algorithm>
#include <optional>

namespace {

using namespace jprof::protocol;

// What parses must survive a second trip unchanged: nothing is invented on the way.
void check_frame(const Frame& frame, std::optional<FileCheck>& files) {
  switch (frame.type) {
  case FrameType::kHello:
    static_cast<void>(parse_hello(frame.payload));
    break;
  case FrameType::kRequest:
    if (const auto request = parse_request(frame.payload)) {
      const std::string text = encode_request(*request);
      const auto again = parse_request(text);
      JPROF_CHECK(again && encode_request(*again) == text);
    }
    break;
  case FrameType::kProgress:
    static_cast<void>(parse_progress(frame.payload));
    break;
  case FrameType::kResult:
    if (auto result = parse_result(frame.payload)) {
      files.emplace(std::move(result->files));
    }
    break;
  case FrameType::kChunk:
    if (const auto chunk = decode_chunk(frame.payload); chunk && files) {
      static_cast<void>(files->accept(*chunk));
    }
    break;
  case FrameType::kEnd:
    if (files) {
      static_cast<void>(files->finish());
    }
    break;
  case FrameType::kError:
    static_cast<void>(parse_error(frame.payload));
    break;
  default:
    static_cast<void>(parse_cancel(frame.payload));
  }
}

} // namespace

// The first byte says in how large steps the rest arrives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0];
  FrameDecoder decoder;
  std::optional<FileCheck> files;
  for (std::size_t at = 0; at < stream.size(); at += step) {
    decoder.feed(stream.substr(at, step));
    for (;;) {
      const auto frame = decoder.take();
      if (!frame || !*frame) {
        break;
      }
      check_frame(**frame, files);
    }
  }
  return 0;
}
