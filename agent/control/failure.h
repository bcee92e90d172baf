// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/wire/control.h"

#include <cstdint>

namespace jprof::agent {

// Why a session could not begin; `detail` is shown to the user unchanged.
struct Failure {
  wire::AgentStatus status = wire::AgentStatus::kOk;
  std::int32_t os_errno = 0;
  char detail[128] = {};

  Failure() = default;
  Failure(wire::AgentStatus why, long result, const char* text, const char* more = "");
};

} // namespace jprof::agent
