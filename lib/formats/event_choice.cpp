// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/event_choice.h"

#include <string>
#include <utility>

namespace jprof::formats {

base::Result<profile::EventId> find_event(const profile::Profile& profile, std::string_view name,
                                          std::string_view input) {
  if (name.empty()) {
    return profile::kFirstEvent;
  }
  std::string known;
  for (const profile::EventId event : profile.event_ids()) {
    const std::string& its_name = profile.event_info(event).name;
    if (its_name == name) {
      return event;
    }
    known += known.empty() ? "" : ", ";
    known += its_name;
  }
  base::Error error = no_events(name, input);
  error.cure = known.empty() ? error.cure : "--event takes one of: " + known;
  return base::fail(std::move(error));
}

base::Error no_events(std::string_view name, std::string_view input) {
  return base::make_error(base::ErrorCode::kUsage, "it has no event '" + std::string(name) + "'",
                          "leave out --event: it does not name its event")
      .with_context(std::string(input));
}

} // namespace jprof::formats
