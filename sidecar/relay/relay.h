// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <vector>

namespace jprof::relay {

// Connects to the first of `sockets` that answers, trying for up to `patience`: a container that
// has just started may be called before its serve listens. kUnavailable, with the cure.
base::Result<int> connect_to_serve(const std::vector<std::string>& sockets,
                                   std::chrono::milliseconds patience);

// Copies input to the socket and the socket to output until the socket ends or output breaks. When
// input ends, the socket is told (half-closed), and its answers still arrive. Does not interpret
// what it copies. Owns `socket`; does not return before the process may exit.
void relay(int input, int output, int socket);

// What the caller is told if serve is not running: a hello and an error frame, on `output`.
void tell_failure(int output, const base::Error& error);

} // namespace jprof::relay
