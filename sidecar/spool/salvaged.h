// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/manifest.h"

#include <string>

namespace jprof::spool {

// Fills in what only the recorder could have said if it had lived: start and `measured`, as far as
// its recording contains them. The region's counters and the agent's cost died with it.
void describe_salvaged(const std::string& recording, capture::Manifest& manifest);

} // namespace jprof::spool
