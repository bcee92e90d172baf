// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/measured.h"

#include <string>

namespace jprof::capture {

// kFull also tells which ways of delivering the agent were not taken, and why.
enum class Detail { kBrief, kFull };

// What a person reads when a capture is over, whole lines, safe for a terminal: warnings, samples,
// lost by cause, where the CPU time went, rate asked and got, the agent's own cost, notes, the
// hottest methods. Where the files are is the program's to add.
std::string summary_text(const Measured& measured, Detail detail = Detail::kBrief);

} // namespace jprof::capture
