// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::jvm {

// The messages of HotSpot's attach protocol, as JDK 8 to 25 speak it (src/hotspot/share/services/
// attachListener.cpp). A client connects, sends one command and reads the answer to its end; then
// the JVM closes. Version 1: "1\0command\0arg\0arg\0arg\0", always three arguments. Version 2 (JDK
// 24 and later): "2\0<bytes that follow>\0command[ options]\0arg\0...". The answer of both: a
// decimal result and a line feed, then text.
inline constexpr std::size_t kMaxCommandBytes = 16;
inline constexpr std::size_t kMaxArgumentBytes = 1024; // version 1, without the NUL
inline constexpr std::size_t kArgumentCount = 3;       // version 1
inline constexpr std::size_t kMaxVersion2Bytes = 256 * 1024;

struct AttachCommand {
  std::string name;
  std::vector<std::string> arguments;
};

bool fits_version_1(const AttachCommand& command);
// kLimit if the version cannot carry it; kUsage if a word contains a NUL.
base::Result<std::string> encode_version_1(const AttachCommand& command);
base::Result<std::string> encode_version_2(const AttachCommand& command);

struct AttachReply {
  int code = 0;        // 0 is success, with exceptions: see interpret_load
  std::string text;    // the target's: print through base::printable or as a file
  bool openj9 = false; // not in HotSpot's words
};
// kAttachFailed for an empty answer (how a JVM refuses what it cannot parse), kProtocol for one
// that does not begin with a number and a line feed.
base::Result<AttachReply> parse_reply(std::string_view bytes);

// The answer to "load" of a native library: what Agent_OnAttach returned, or kAgentFailed,
// kAgentLoadingDisabled with the JVM's own words. JDK 8 gives a bare number, 9 and later "return
// code: N"; since 21 the result is 0 whatever happened.
base::Result<int> interpret_load(const AttachReply& reply);

// The answer to "getversion" (sent with version 1): 2 if the JVM speaks version 2.
int supported_version(const AttachReply& reply);

} // namespace jprof::jvm
