// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/control.h"

#include <chrono>
#include <optional>
#include <variant>

// The sidecar's end of the control socket (lib/wire/control.h). Whatever arrives may come from a
// hostile process: lengths and types are checked, and strings are terminated.
namespace jprof::record {

struct PeerGone {}; // hung up: the JVM has ended, or its agent has
using AgentMessage = std::variant<PeerGone, wire::StartedMessage, wire::FailedMessage,
                                  wire::StoppedMessage, wire::SymbolsMessage>;

// A send does not fail because of a hang-up: the next receive reports it, after the agent's last
// messages. The start message carries the region's descriptor.
base::Status send_start(int socket, const wire::StartMessage& message, int region_fd);
base::Status send_drained(int socket, std::uint64_t ring_tail, std::uint32_t drained_generation);
base::Status send_stop(int socket);
// Carries the descriptor of the memory that the agent writes to. Here, an agent that reads slowly
// is a failure.
base::Status send_symbols_wanted(int socket, std::uint64_t base, std::uint64_t bytes,
                                 int memory_fd);
// The next message, if there is one; messages of unknown types are skipped. Never blocks.
base::Result<std::optional<AgentMessage>> receive(int socket);
// Waits for one; nothing once the time is up.
base::Result<std::optional<AgentMessage>> receive_within(int socket, std::chrono::milliseconds);

} // namespace jprof::record
