// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/capture_id.h"

#include "lib/base/digest.h"
#include "lib/base/ulid.h"

#include <initializer_list>

namespace jprof::capture {
namespace {

// Each part is led by its length, so that no two lists of parts give the same text.
std::string digest_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
    text += '\n';
  }
  return base::sha256_hex(text);
}

} // namespace

bool is_capture_id(std::string_view text) {
  const bool is_digest =
      text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_digest || base::is_ulid(text);
}

std::string incident_id(std::string_view fingerprint, std::string_view starts_at,
                        std::string_view pod_uid) {
  return digest_of({"incident", fingerprint, starts_at, pod_uid});
}

std::string schedule_id(std::string_view scheduled_time, std::string_view pod_uid,
                        std::string_view container) {
  return digest_of({"schedule", scheduled_time, pod_uid, container});
}

} // namespace jprof::capture
