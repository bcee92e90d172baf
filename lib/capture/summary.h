// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/measured.h"

#include <string>

namespace jprof::capture {

// What a person reads when a capture is over, whole lines, safe for a terminal: samples, lost by
// cause, rate asked and got, the agent's own cost, notes, the hottest methods. Where the files are
// is the program's to add.
std::string summary_text(const Measured& measured);

} // namespace jprof::capture
