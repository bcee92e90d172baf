// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_diff.h"

#include "lib/formats/event_choice.h"
#include "lib/formats/format_writer.h"
#include "lib/page/page_writer.h"
#include "lib/render/folded_diff.h"
#include "lib/render/left_out.h"
#include "lib/render/svg_writer.h"

#include <utility>

namespace jprof::formats {

namespace {

void tell(const Input& input, const std::vector<std::string>& found, const std::string& damage,
          DiffTold& told) {
  for (const std::string& one : found) {
    told.left_out.insert(input.name + ": " + one);
  }
  if (!damage.empty() && told.damage.empty()) {
    told.damage = input.name + ": " + damage;
  }
}

base::Result<profile::EventId> choose(const Input& input, const profile::Profile& profile,
                                      const DiffOptions& options, DiffTold& told) {
  JPROF_TRY_ASSIGN(const profile::EventId event, find_event(profile, options.event, input.name));
  tell(input, render::left_out_of(profile, event), profile.info().damage, told);
  return event;
}

struct NamedEvent {
  const std::string& name; // of the input
  const profile::EventInfo& info;
};

// Shares of bytes beside shares of time say nothing. Imported text does not name its event.
base::Status check_units(const NamedEvent& base, const NamedEvent& changed) {
  if (base.info.unit == changed.info.unit || base.info.name.empty() || changed.info.name.empty()) {
    return {};
  }
  return base::make_failure(base::ErrorCode::kUsage,
                            base.name + " counts " + count_words(base.info.unit).name + " (" +
                                base.info.name + "), " + changed.name + " counts " +
                                count_words(changed.info.unit).name + " (" + changed.info.name +
                                ")",
                            "compare the same event: --event takes one that both have");
}

std::string unit_of(const Folded& folded) {
  return folded.was_folded ? "what its text says" : count_words(folded.unit).name;
}

// Two recordings of one unit, or two texts: of a text nobody knows what it counts.
bool count_the_same(const Folded& one, const Folded& other) {
  return one.was_folded == other.was_folded && (one.was_folded || one.unit == other.unit);
}

} // namespace

base::Result<std::string> diff_as(const Input& base, const Input& changed, Format format,
                                  const DiffOptions& options, DiffTold& told) {
  if (format == Format::kPage) {
    JPROF_TRY_ASSIGN(const profile::Profile before, read_any(base.bytes, base.name));
    JPROF_TRY_ASSIGN(const profile::Profile after, read_any(changed.bytes, changed.name));
    JPROF_TRY_ASSIGN(const profile::EventId base_event, choose(base, before, options, told));
    JPROF_TRY_ASSIGN(const profile::EventId event, choose(changed, after, options, told));
    JPROF_TRY(check_units({base.name, before.event_info(base_event)},
                          {changed.name, after.event_info(event)}));
    return page::write_diff_page(
        before, after, {.title = options.title, .event = event, .base_event = base_event});
  }
  if (format != Format::kSvg && format != Format::kCollapsed) {
    return base::make_failure(base::ErrorCode::kUsage, "a difference has no such format",
                              "Write .html, .svg or .collapsed.");
  }
  JPROF_TRY_ASSIGN(const Folded before, folded_text(base, KindSuffixes::kNo, options.event));
  JPROF_TRY_ASSIGN(const Folded after, folded_text(changed, KindSuffixes::kNo, options.event));
  tell(base, before.left_out, before.damage, told);
  tell(changed, after.left_out, after.damage, told);
  if (!count_the_same(before, after) && !options.normalize) {
    return base::make_failure(base::ErrorCode::kUsage,
                              base.name + " counts " + unit_of(before) + ", " + changed.name +
                                  " counts " + unit_of(after),
                              "-n scales the base to the other's total; the page compares shares");
  }
  JPROF_TRY_ASSIGN(std::string folded, render::diff_folded(before.text, after.text,
                                                           {.normalize = options.normalize,
                                                            .strip_hex = options.strip_hex}));
  if (format == Format::kCollapsed) {
    return folded;
  }
  const CountWords words = count_words(after.unit);
  return render::write_svg(folded, {.title = options.title.empty()
                                                 ? changed.name + " compared with " + base.name
                                                 : options.title,
                                    .count_name = words.name,
                                    .factor = words.factor,
                                    .negate = options.negate});
}

} // namespace jprof::formats
