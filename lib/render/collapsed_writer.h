// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string>
#include <string_view>

namespace jprof::render {

// Suffixes of flamegraph.pl's Java palette: _[j] compiled, _[i] inlined, _[0] interpreted,
// _[1] compiled by C1, _[k] kernel.
enum class KindSuffix { kNone, kAnnotate };

struct CollapsedOptions {
  KindSuffix suffix = KindSuffix::kNone;
  profile::EventId event = profile::kFirstEvent;
};

// Folded text: one line "root;...;leaf WEIGHT" per distinct stack, sorted, so that equal profiles
// give equal bytes. The number is the weight in the profile's unit (nanoseconds, bytes, samples),
// as in every other format: samples do not all weigh the same. Whatever would split a line in other
// tools is replaced: ';' by ':', and line breaks, other control characters and direction marks by a
// space, so that it is safe on a terminal. The empty stack is "[empty stack]".
std::string write_collapsed(const profile::Profile& profile, const CollapsedOptions& options = {});

// One frame's name, safe for folded text.
std::string collapsed_name(std::string_view name);

} // namespace jprof::render
