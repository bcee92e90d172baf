// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_diff.h"

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
    tell(base, render::left_out_of(before), before.info().damage, told);
    tell(changed, render::left_out_of(after), after.info().damage, told);
    return page::write_diff_page(before, after, {.title = options.title});
  }
  if (format != Format::kSvg && format != Format::kCollapsed) {
    return base::make_failure(base::ErrorCode::kUsage, "a difference has no such format",
                              "Write .html, .svg or .collapsed.");
  }
  JPROF_TRY_ASSIGN(const Folded before, folded_text(base, KindSuffixes::kNo));
  JPROF_TRY_ASSIGN(const Folded after, folded_text(changed, KindSuffixes::kNo));
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
