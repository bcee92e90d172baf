// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_reader.h"

#include "lib/base/file.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_reader.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/perf_script_reader.h"
#include "lib/render/speedscope_reader.h"
#include "lib/render/thread_dump_reader.h"

#include <cstddef>
#include <unistd.h>
#include <utility>

namespace jprof::formats {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 30;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

enum class Content { kRecording, kPerfScript, kThreadDump, kSpeedscope, kFolded };

Content content_of(std::string_view bytes) {
  if (bytes.starts_with(profile::kRecordingMagic)) {
    return Content::kRecording;
  }
  if (render::looks_like_speedscope(bytes)) {
    return Content::kSpeedscope;
  }
  if (render::looks_like_thread_dump(bytes)) {
    return Content::kThreadDump;
  }
  return render::looks_like_perf_script(bytes) ? Content::kPerfScript : Content::kFolded;
}

} // namespace

base::Result<profile::Profile> read_any(std::string_view bytes, std::string_view name) {
  const std::string_view title = base_name(name);
  auto profile = [&]() -> base::Result<profile::Profile> {
    switch (content_of(bytes)) {
    case Content::kRecording: {
      JPROF_TRY_ASSIGN(profile::Recording recording, profile::read_recording(bytes));
      return std::move(recording.profile);
    }
    case Content::kPerfScript:
      return render::read_perf_script(bytes, title);
    case Content::kThreadDump:
      return render::read_thread_dumps(bytes, title);
    case Content::kSpeedscope:
      return render::read_speedscope(bytes, title);
    case Content::kFolded:
      break;
    }
    return render::read_collapsed(bytes, title);
  }();
  if (!profile) {
    return base::fail(std::move(profile).error().with_context(std::string(name)));
  }
  return profile;
}

base::Result<Input> read_input(const std::string& path) {
  if (path == "-") {
    JPROF_TRY_ASSIGN(std::string bytes,
                     base::read_all(STDIN_FILENO, kLargestFile, "standard input"));
    return Input{"standard input", std::move(bytes)};
  }
  base::Result<std::string> bytes = base::read_file(path, kLargestFile);
  if (!bytes) {
    base::Error error = std::move(bytes).error();
    if (error.code != base::ErrorCode::kLimit) {
      error.code = base::ErrorCode::kUsage;
    }
    return base::fail(std::move(error));
  }
  return Input{path, std::move(*bytes)};
}

base::Result<std::string> folded_text(Input input, KindSuffixes suffixes) {
  if (content_of(input.bytes) == Content::kFolded) {
    return std::move(input.bytes);
  }
  JPROF_TRY_ASSIGN(const profile::Profile profile, read_any(input.bytes, input.name));
  return render::write_collapsed(profile, {.suffix = suffixes == KindSuffixes::kYes
                                                         ? render::KindSuffix::kAnnotate
                                                         : render::KindSuffix::kNone});
}

} // namespace jprof::formats
