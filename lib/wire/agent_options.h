// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option string that the attach operation `load` (or -agentpath:) hands to the agent:
//   "v=1,socket=<path in the JVM's mount namespace>,nonce=<32 hex digits>"
// Everything else is in the start message. Unknown keys are ignored; an empty string (a load at the
// JVM's start) leaves the agent idle until a later load names a socket. Values contain no comma.

#include <cstddef>
#include <cstdint>

namespace jprof::wire {

inline constexpr char kOptionVersion[] = "v";
inline constexpr char kOptionSocket[] = "socket";
inline constexpr char kOptionNonce[] = "nonce";
inline constexpr std::size_t kMaxOptionBytes = 512;

// What Agent_OnAttach returns. kHandedOver: a resident copy took the session, so the JVM may unload
// this one (17 and later do; 8 to 11 keep it). Any other non-zero value says that no session began;
// errors of a session go over the socket.
inline constexpr int kLoadOk = 0;
inline constexpr int kLoadBadOptions = 101;
inline constexpr int kLoadNoResources = 102;
inline constexpr int kLoadHandedOver = 110;

} // namespace jprof::wire
