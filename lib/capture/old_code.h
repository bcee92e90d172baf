// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace jprof::capture {

// What people read of samples in code that was compiled without DebugNonSafepoints, before the
// capture: their share of all `samples`, what that means and what cures it; "unknown..." without
// a value. Empty if there are none.
std::string old_code_text(std::optional<std::chrono::nanoseconds> old_code,
                          std::chrono::nanoseconds samples);

} // namespace jprof::capture
