// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/event_choice.h"

#include <utility>

namespace jprof::formats {
namespace {

void append(std::string& list, std::string_view one) {
  list += list.empty() ? "" : ", ";
  list += one;
}

} // namespace

base::Result<profile::EventId> find_event(const profile::Profile& profile, std::string_view name) {
  if (name.empty()) {
    return profile::kFirstEvent;
  }
  std::string known;
  for (std::size_t at = 0; at < profile.event_count(); ++at) {
    const auto event = static_cast<profile::EventId>(at);
    const std::string& its_name = profile.event_info(event).name;
    if (its_name == name) {
      return event;
    }
    append(known, its_name);
  }
  base::Error error = no_events(name);
  error.cure = known.empty() ? error.cure : "--event takes one of: " + known;
  return base::fail(std::move(error));
}

base::Error no_events(std::string_view name) {
  return base::make_error(base::ErrorCode::kUsage, "it has no event '" + std::string(name) + "'",
                          "leave out --event: it does not name its event");
}

} // namespace jprof::formats
