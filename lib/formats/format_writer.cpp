// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_writer.h"

#include "lib/page/page_writer.h"
#include "lib/profile/recording_writer.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/svg_writer.h"
#include "lib/render/tree_writer.h"

namespace jprof::formats {

CountWords count_words(profile::Unit unit) {
  switch (unit) {
  case profile::Unit::kNanoseconds:
    return {"ms", 1e-6};
  case profile::Unit::kBytes:
    return {"bytes", 1};
  case profile::Unit::kSamples:
    break;
  }
  return {"samples", 1};
}

namespace {

base::Result<std::string> write_plain(const profile::Profile& profile, Format format,
                                      const WriteOptions& options) {
  switch (format) {
  case Format::kRecording:
    return profile::encode_recording(profile);
  case Format::kCollapsed:
    return render::write_collapsed(profile, {.event = options.event});
  case Format::kPage:
    return page::write_page(profile, {.title = options.title, .event = options.event});
  case Format::kSvg: {
    const std::string& title = options.title.empty() ? profile.info().title : options.title;
    if (profile.event(options.event).total_weight == 0) {
      return render::write_empty_svg(title);
    }
    const CountWords words = count_words(profile.event_info(options.event).unit);
    return render::write_svg(
        render::write_collapsed(profile,
                                {.suffix = render::KindSuffix::kAnnotate, .event = options.event}),
        {.title = title, .count_name = words.name, .colors = "java", .factor = words.factor});
  }
  case Format::kTreeText:
    return render::write_tree_text(profile, options.event);
  case Format::kTreeJson:
    return render::write_tree_json(profile, options.event);
  }
  return base::make_failure(base::ErrorCode::kInternal, "a format without a writer");
}

} // namespace

render::ThreadRoots thread_roots(std::string_view word) {
  return word == "pool"     ? render::ThreadRoots::kPool
         : word == "thread" ? render::ThreadRoots::kThread
                            : render::ThreadRoots::kNone;
}

base::Result<std::string> write_as(const profile::Profile& profile, Format format,
                                   const WriteOptions& options) {
  if (options.threads == render::ThreadRoots::kNone || format == Format::kPage ||
      format == Format::kRecording) {
    return write_plain(profile, format, options);
  }
  if (!profile.info().has_threads) {
    return base::make_failure(base::ErrorCode::kUsage, "it does not say which thread ran what",
                              "leave out --threads, or give the .jprof that it was made from");
  }
  return write_plain(render::with_thread_roots(profile, options.threads), format, options);
}

} // namespace jprof::formats
