// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option string of the load operation (lib/wire/agent_options.h), parsed without allocation.

#include "lib/wire/agent_options.h"
#include "lib/wire/control.h"

#include <cstdint>

namespace jprof::agent {

inline constexpr std::size_t kMaxSocketPath = 108; // sizeof(sockaddr_un::sun_path)

struct Options {
  bool has_session = false; // a socket is named: begin a session
  char socket[kMaxSocketPath] = {};
  std::uint8_t nonce[wire::kNonceBytes] = {};
};

// `text` may be null. False if a session is requested in a way that we do not understand.
bool parse_options(const char* text, Options* options);

} // namespace jprof::agent
