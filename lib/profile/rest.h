// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string_view>

// The rest of the CPU time: what threads have used and no sample stands for. A profile holds it as
// entries with a weight, one frame of the kind kRest, and a count of 0: weights add up to what was
// used, counts to the samples that were taken (docs/formats/recording.md).
namespace jprof::profile {

inline constexpr std::string_view kAfterLastSample = "[after last sample]";
inline constexpr std::string_view kNotSampled = "[not sampled]"; // a thread without any sample
inline constexpr std::string_view kEndedUnseen = "[ended unseen]";

inline bool is_rest(const Profile& profile, StackId stack) {
  const auto frames = profile.stack(stack);
  return !frames.empty() && profile.frame(frames.back()).kind == FrameKind::kRest;
}

} // namespace jprof::profile
