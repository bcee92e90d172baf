// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/profile/recording_reader.h"
#include "lib/profile/recording_writer.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/folded_diff.h"
#include "lib/render/svg_writer.h"
#include "lib/render/tree_writer.h"

#include <cstdint>
#include <cstdlib>
#include <string>

// What holds for every profile that a reader made of foreign text, however it came about. Aborts
// where it does not.
namespace jprof::fuzz {

inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// Ids stay within their tables and the totals are those of the samples.
inline void require_whole(const profile::Profile& profile) {
  require(profile.event_count() == profile.info().events.size());
  for (const profile::EventId id : profile.event_ids()) {
    const profile::EventSamples& event = profile.event(id);
    std::uint64_t count = 0;
    std::uint64_t weight = 0;
    for (const profile::Sample& sample : event.samples) {
      require(static_cast<std::size_t>(sample.thread) < profile.threads().size());
      require(static_cast<std::size_t>(sample.stack) < profile.stack_count());
      require(sample.time.count() >= 0);
      for (const profile::FrameId frame : profile.stack(sample.stack)) {
        require(static_cast<std::size_t>(frame) < profile.frames().size());
      }
      count += sample.count;
      weight += sample.weight;
    }
    require(count == event.total_count && weight == event.total_weight);
  }
}

// Every text form keeps the sums, and what we write we read.
inline void require_sums(const profile::Profile& profile, profile::EventId event) {
  const std::string folded = render::write_collapsed(profile, {.event = event});
  const auto back = render::read_collapsed(folded, "folded");
  require(back.has_value());
  require(back->event().total_weight == profile.event(event).total_weight);
  (void)render::diff_folded(folded, folded, {.normalize = true, .strip_hex = true});
  (void)render::write_svg(folded);
  (void)render::write_tree_text(profile, event);
  require(base::parse_json(render::write_tree_json(profile, event),
                           {.bytes = std::size_t{1} << 30, .depth = 1 << 20})
              .has_value());
}

inline void require_recording(const profile::Profile& profile, profile::EventId event) {
  const auto bytes = profile::encode_recording(profile);
  require(bytes.has_value());
  const auto back = profile::read_recording(*bytes);
  require(back.has_value());
  require(back->profile.event_count() == profile.event_count());
  require(back->profile.event(event).total_count == profile.event(event).total_count);
  require(back->profile.event(event).total_weight == profile.event(event).total_weight);
  require(render::write_collapsed(back->profile, {.event = event}) ==
          render::write_collapsed(profile, {.event = event}));
}

inline void require_promises(const profile::Profile& profile) {
  require_whole(profile);
  for (const profile::EventId event : profile.event_ids()) {
    // Counts near 2^64 have no sums to keep; no reader gives one such sample above 2^53.
    if (profile.event(event).total_count < (std::uint64_t{1} << 53) &&
        profile.event(event).total_weight < (std::uint64_t{1} << 53)) {
      require_sums(profile, event);
      require_recording(profile, event);
    }
  }
}

} // namespace jprof::fuzz
