// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_diff.h"

#include "lib/page/page_writer.h"
#include "lib/render/folded_diff.h"
#include "lib/render/svg_writer.h"

namespace jprof::formats {

base::Result<std::string> diff_as(const Input& base, const Input& changed, Format format,
                                  const DiffOptions& options) {
  if (format == Format::kPage) {
    JPROF_TRY_ASSIGN(const profile::Profile before, read_any(base.bytes, base.name));
    JPROF_TRY_ASSIGN(const profile::Profile after, read_any(changed.bytes, changed.name));
    return page::write_diff_page(before, after, {.title = options.title});
  }
  if (format != Format::kSvg && format != Format::kCollapsed) {
    return base::make_failure(base::ErrorCode::kUsage, "a difference has no such format",
                              "Write .html, .svg or .collapsed.");
  }
  JPROF_TRY_ASSIGN(const std::string before, folded_text(base, KindSuffixes::kNo));
  JPROF_TRY_ASSIGN(const std::string after, folded_text(changed, KindSuffixes::kNo));
  JPROF_TRY_ASSIGN(std::string folded, render::diff_folded(before, after,
                                                           {.normalize = options.normalize,
                                                            .strip_hex = options.strip_hex}));
  if (format == Format::kCollapsed) {
    return folded;
  }
  return render::write_svg(folded, {.title = options.title.empty()
                                                 ? changed.name + " compared with " + base.name
                                                 : options.title,
                                    .negate = options.negate});
}

} // namespace jprof::formats
