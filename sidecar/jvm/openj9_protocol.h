// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/jvm/attach_protocol.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::jvm {

// The messages of OpenJ9's attach API (openj9,
// jcl/src/java.base/share/classes/openj9/internal/tools/attach/target), over a TCP connection that
// the JVM makes to us: each message and answer ends in NUL. These functions give and take messages
// without it.

// "ATTACH_CONNECTED <key as 16 hexadecimal digits> ": what the JVM says first.
std::string openj9_greeting(std::uint64_t key);
// The file replyInfo: the key and our port, one per line.
std::string openj9_reply_info(std::uint64_t key, std::uint16_t port);
// jattach's command in OpenJ9's words. kUsage if OpenJ9 has no equivalent (setflag, printflag) or a
// word contains a NUL.
base::Result<std::string> encode_openj9(const AttachCommand& command);
// An answer in HotSpot's terms: `code` 0, or -1 with the reason as text; for load "return code: N".
AttachReply parse_openj9(const AttachCommand& command, std::string_view answer);

} // namespace jprof::jvm
