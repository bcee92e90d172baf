// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/control.h"
#include "sidecar/record/recorder.h"

#include <array>
#include <cstdint>

namespace jprof::record {

// A random number that the agent writes into the region's header, so that no other region can be
// mistaken for it.
base::Result<std::array<std::uint64_t, 2>> new_session_id();

// Sends the start message with the region and waits for the answer, for at most
// options.start_timeout. A refusal of the agent keeps its code (inject::agent_error); an agent that
// hangs up is kAgentFailed.
base::Result<wire::StartedMessage> start_agent(const RecorderInput& input,
                                               const RecorderOptions& options, int region,
                                               const std::array<std::uint64_t, 2>& session);

} // namespace jprof::record
