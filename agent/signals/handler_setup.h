// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/control/failure.h"

#include <cstdint>

namespace jprof::agent {

// Decides who does the loads that may fault, our handlers or the kernel, and installs the handlers
// that are needed. `owner` gets the number that retire_handlers() needs. Agent's thread.
Failure set_up_handlers(const wire::StartMessage& start, int signal, std::uint32_t* owner);

} // namespace jprof::agent
