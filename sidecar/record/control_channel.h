// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/control.h"

#include <chrono>
#include <optional>
#include <variant>

// The sidecar's end of the control socket (lib/wire/control.h). Whatever comes is the word of a
// hostile process: lengths and types are checked, strings end.
namespace jprof::record {

struct PeerGone {}; // hung up: the JVM has ended, or its agent has
using AgentMessage = std::variant<PeerGone, wire::StartedMessage, wire::FailedMessage,
                                  wire::StoppedMessage, wire::SymbolsMessage>;

// A hang-up is no error of any send: the next receive says so, after what the agent said last.
// Start goes with the region's descriptor.
base::Status send_start(int socket, const wire::StartMessage& message, int region_fd);
base::Status send_drained(int socket, std::uint64_t ring_tail, std::uint32_t drained_generation);
base::Status send_stop(int socket);
// Goes with the memory into which the agent writes. An agent that reads slowly is a failure here.
base::Status send_symbols_wanted(int socket, std::uint64_t base, std::uint64_t bytes,
                                 int memory_fd);
// The next message if one is there; messages of unknown types are skipped. Never blocks.
base::Result<std::optional<AgentMessage>> receive(int socket);
// Waits for one; nothing when the time is over.
base::Result<std::optional<AgentMessage>> receive_within(int socket, std::chrono::milliseconds);

} // namespace jprof::record
