// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_writer.h"

#include "lib/page/page_writer.h"
#include "lib/profile/recording_writer.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/svg_writer.h"
#include "lib/render/tree_writer.h"

namespace jprof::formats {

base::Result<std::string> write_as(const profile::Profile& profile, Format format,
                                   const WriteOptions& options) {
  switch (format) {
  case Format::kRecording:
    return profile::encode_recording(profile);
  case Format::kCollapsed:
    return render::write_collapsed(profile);
  case Format::kPage:
    return page::write_page(profile, {.title = options.title});
  case Format::kSvg: {
    const std::string& title = options.title.empty() ? profile.info().title : options.title;
    if (profile.total_count() == 0) {
      return render::write_empty_svg(title);
    }
    return render::write_svg(
        render::write_collapsed(profile, {.suffix = render::KindSuffix::kAnnotate}),
        {.title = title, .colors = "java"});
  }
  case Format::kTreeText:
    return render::write_tree_text(profile);
  case Format::kTreeJson:
    return render::write_tree_json(profile);
  }
  return base::make_failure(base::ErrorCode::kInternal, "a format without a writer");
}

} // namespace jprof::formats
