// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string_view>

// The rest of the CPU time: what threads have used and no signal stands for. It is in a profile as
// samples of one frame, so that weights add up to what was used (docs/formats/recording.md).
namespace jprof::profile {

inline constexpr std::string_view kAfterLastSample = "[after last sample]";
inline constexpr std::string_view kNotSampled = "[not sampled]"; // a thread without any sample
inline constexpr std::string_view kEndedUnseen = "[ended unseen]";

inline bool is_rest(const Profile& profile, StackId stack) {
  const auto frames = profile.stack(stack);
  if (frames.size() != 1 || profile.frame(frames.front()).kind != FrameKind::kError) {
    return false;
  }
  const std::string_view name = profile.string(profile.frame(frames.front()).name);
  return name == kAfterLastSample || name == kNotSampled || name == kEndedUnseen;
}

} // namespace jprof::profile
