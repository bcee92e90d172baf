// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_diff.h"

#include "lib/page/page_writer.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/folded_diff.h"
#include "lib/render/svg_writer.h"

namespace jprof::formats {

base::Result<std::string> diff_as(const profile::Profile& base, const profile::Profile& changed,
                                  Format format, const DiffOptions& options) {
  if (format == Format::kPage) {
    return page::write_diff_page(base, changed, {.title = options.title});
  }
  if (format != Format::kSvg && format != Format::kCollapsed) {
    return base::make_failure(base::ErrorCode::kUsage, "a difference has no such format",
                              "Write .html, .svg or .collapsed.");
  }
  JPROF_TRY_ASSIGN(
      std::string folded,
      render::diff_folded(render::write_collapsed(base), render::write_collapsed(changed),
                          {.normalize = options.normalize, .strip_hex = options.strip_hex}));
  if (format == Format::kCollapsed) {
    return folded;
  }
  return render::write_svg(
      folded,
      {.title = options.title.empty() ? changed.info().title + " compared with " + base.info().title
                                      : options.title,
       .negate = options.negate});
}

} // namespace jprof::formats
