// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/object_key.h"

#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/capture/capture_id.h"

#include <algorithm>

namespace jprof::capture {
namespace {

constexpr std::size_t kMaxSegmentLength = 128;
constexpr std::size_t kMaxKeyLength = 900;
constexpr std::size_t kMaxFileNameLength = 1 + kMaxSegmentLength; // what the caller adds

bool is_key_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '_' || c == '=' || c == '-';
}

std::string segment(std::string_view text, std::size_t longest = kMaxSegmentLength) {
  std::string out(text.substr(0, longest));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_key_character(c); }, '-');
  const bool only_dots = out.find_first_not_of('.') == std::string::npos;
  return out.empty() ? "unknown" : only_dots ? std::string(out.size(), '-') : out;
}

std::string workload_segment(const Source& source) {
  const bool bare = source.workload_kind.empty() || source.workload.empty();
  return segment((bare ? "pod" : base::lowered(source.workload_kind)) + "." +
                 segment(bare ? source.pod : source.workload));
}

// <hhmmss>Z-<pod>-<container>-<id>: a digest id leaves 54 bytes for both names.
std::string last_segment(const Manifest& manifest, std::string_view time) {
  constexpr std::size_t kTime = 8; // "hhmmssZ-"
  const std::size_t room = kMaxSegmentLength - kTime - manifest.id.size() - 2;
  const std::string container =
      segment(manifest.source.container, std::min<std::size_t>(63, room / 3));
  const std::string pod = segment(manifest.source.pod, room - container.size());
  return std::string(time) + "Z-" + pod + "-" + container + "-" + manifest.id;
}

base::Result<std::string> clean_prefix(std::string_view prefix) {
  while (prefix.ends_with('/')) {
    prefix.remove_suffix(1);
  }
  for (std::size_t at = 0; !prefix.empty() && at <= prefix.size();) {
    const std::size_t end = std::min(prefix.find('/', at), prefix.size());
    const std::string_view part = prefix.substr(at, end - at);
    if (part.empty() || segment(part) != part) {
      return base::make_failure(base::ErrorCode::kUsage,
                                "not a usable key prefix: '" + std::string(prefix) + "'",
                                "use names of letters, digits and . _ = - with single slashes");
    }
    at = end + 1;
  }
  return prefix.empty() ? std::string() : std::string(prefix) + "/";
}

} // namespace

base::Result<std::string> object_directory(std::string_view prefix, const Manifest& manifest) {
  JPROF_TRY_ASSIGN(const std::string lead, clean_prefix(prefix));
  if (!is_capture_id(manifest.id)) {
    return base::make_failure(base::ErrorCode::kInvalidData, "capture without a valid id");
  }
  JPROF_TRY_ASSIGN(const auto time, base::parse_utc(manifest.request_time));
  const std::string utc = base::format_utc(time); // yyyy-mm-ddThh:mm:ssZ
  const std::string clock = utc.substr(11, 2) + utc.substr(14, 2) + utc.substr(17, 2);
  const Source& source = manifest.source;
  std::string key = lead + "v1/" + segment(source.cluster) + "/" + segment(source.namespace_name) +
                    "/" + workload_segment(source) + "/" + utc.substr(0, 4) + "/" +
                    utc.substr(5, 2) + "/" + utc.substr(8, 2) + "/" + last_segment(manifest, clock);
  if (key.size() + kMaxFileNameLength > kMaxKeyLength) {
    return base::make_failure(base::ErrorCode::kUsage,
                              "the object key is longer than " + std::to_string(kMaxKeyLength) +
                                  " bytes",
                              "shorten the store's prefix");
  }
  return key;
}

std::string_view trigger_tag(const Manifest& manifest) {
  for (const std::string_view known : {"schedule", "incident"}) {
    if (manifest.trigger == known) {
      return known;
    }
  }
  return "manual";
}

} // namespace jprof::capture
