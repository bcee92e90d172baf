// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string_view>

// Which event of a profile a format that holds one event shows: all but the recording.
namespace jprof::formats {

inline constexpr const char* kEventHelp =
    "Of a recording of several events, the one to write (default: the first; .jprof keeps all)";

// Empty: the first event. kUsage if the profile has no event of that name; the message begins with
// the input's name, and the cure names the events that it has.
base::Result<profile::EventId> find_event(const profile::Profile& profile, std::string_view name,
                                          std::string_view input);

// ... of text that names none.
base::Error no_events(std::string_view name, std::string_view input);

} // namespace jprof::formats
