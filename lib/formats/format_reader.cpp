// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_reader.h"

#include "lib/base/file.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_reader.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/perf_script_reader.h"

#include <cstddef>
#include <unistd.h>

namespace jprof::formats {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 30;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

base::Result<profile::Profile> read_any(std::string_view bytes, std::string_view name) {
  const std::string_view title = base_name(name);
  if (bytes.starts_with(profile::kRecordingMagic)) {
    JPROF_TRY_ASSIGN(profile::Recording recording, profile::read_recording(bytes));
    return std::move(recording.profile);
  }
  if (render::looks_like_perf_script(bytes)) {
    return render::read_perf_script(bytes, title);
  }
  auto profile = render::read_collapsed(bytes, title);
  if (!profile) {
    return base::fail(std::move(profile).error().with_context(std::string(name)));
  }
  return profile;
}

base::Result<profile::Profile> read_any_file(const std::string& path) {
  if (path == "-") {
    JPROF_TRY_ASSIGN(const std::string bytes,
                     base::read_all(STDIN_FILENO, kLargestFile, "standard input"));
    return read_any(bytes, "standard input");
  }
  JPROF_TRY_ASSIGN(const std::string bytes, base::read_file(path, kLargestFile));
  return read_any(bytes, path);
}

} // namespace jprof::formats
