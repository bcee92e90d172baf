// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstddef>
#include <string>
#include <string_view>

// One packet of a SOCK_SEQPACKET pair between two processes of ours, with at most one descriptor.
namespace jprof::container {

struct Packet {
  std::string bytes; // empty: the other end has closed
  base::UniqueFd fd; // close-on-exec; empty where none came
};

// fd stays the caller's; -1: none. EPIPE and related errors are errors, never a signal.
base::Status send_packet(int socket, std::string_view bytes, int fd);
// Waits for one; anything beyond `most` bytes is cut off.
base::Result<Packet> receive_packet(int socket, std::size_t most);

} // namespace jprof::container
