// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/manifest.h"

#include "lib/base/digest.h"
#include "lib/base/file_name.h"
#include "lib/base/timestamp.h"
#include "lib/capture/capture_id.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::capture {
namespace {

using base::Json;

constexpr std::size_t kMaxFiles = 32;

template <typename T>
struct TextMember {
  const char* key;
  std::string T::*member;
};

constexpr std::array<TextMember<Manifest>, 7> kTextMembers{
    {{"id", &Manifest::id},
     {"trigger", &Manifest::trigger},
     {"requester", &Manifest::requester},
     {"cause", &Manifest::cause},
     {"requestTime", &Manifest::request_time},
     {"startTime", &Manifest::start_time},
     {"jprofVersion", &Manifest::jprof_version}}};

constexpr std::array<TextMember<Source>, 10> kSourceMembers{
    {{"cluster", &Source::cluster},
     {"namespace", &Source::namespace_name},
     {"pod", &Source::pod},
     {"podUid", &Source::pod_uid},
     {"node", &Source::node},
     {"container", &Source::container},
     {"workloadKind", &Source::workload_kind},
     {"workload", &Source::workload},
     {"image", &Source::image},
     {"imageDigest", &Source::image_digest}}};

// The checksum is the last member, on a line of its own: the text in front of its digits, with
// zeros in their place, is what it is taken of.
constexpr std::string_view kChecksumLead = "\"checksum\": \"sha256:";
constexpr std::size_t kDigits = 64;

tl::unexpected<base::Error> damaged(std::string_view what) {
  return base::make_failure(base::ErrorCode::kInvalidData,
                            "manifest is damaged: " + std::string(what));
}

base::Status check_text(std::string_view text) {
  const std::size_t lead = text.rfind(kChecksumLead);
  if (lead == std::string_view::npos || text.size() - lead < kChecksumLead.size() + kDigits) {
    return damaged("it has no checksum");
  }
  const std::size_t digits = lead + kChecksumLead.size();
  std::string zeroed(text);
  zeroed.replace(digits, kDigits, kDigits, '0');
  if (base::sha256_hex(zeroed) != text.substr(digits, kDigits)) {
    return damaged("its checksum differs");
  }
  return {};
}

base::Result<BundleFile> parse_file(const Json& json) {
  BundleFile file;
  file.name = base::json_string(json, "name");
  file.format = base::json_string(json, "format");
  file.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::json_int(json, "bytes")));
  file.sha256 = base::json_string(json, "sha256");
  if (!base::is_plain_file_name(file.name) || file.name == kManifestFile ||
      file.sha256.size() != kDigits ||
      file.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return damaged("file '" + file.name + "' has an unsafe name or no digest");
  }
  return file;
}

base::Status check_version(const Json& json) {
  const std::string version = base::json_string(json, "apiVersion");
  if (base::json_string(json, "kind") != "Capture" || !version.starts_with("jprof.dev/")) {
    return damaged("it is not a jprof capture");
  }
  if (version != kApiVersion) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              "manifest is of version " + version + ", and this jprof reads " +
                                  kApiVersion,
                              "use the jprof that wrote it, or a newer one");
  }
  return {};
}

} // namespace

Json manifest_json(const Manifest& manifest) {
  Json json = {{"apiVersion", kApiVersion}, {"kind", "Capture"}};
  for (const auto& row : kTextMembers) {
    json[row.key] = manifest.*row.member;
  }
  Json& source = json["source"] = Json::object();
  for (const auto& row : kSourceMembers) {
    if (!(manifest.source.*row.member).empty()) {
      source[row.key] = manifest.source.*row.member;
    }
  }
  json["partial"] = manifest.partial;
  json["partialReason"] = manifest.partial_reason;
  json["measured"] = manifest.measured;
  Json& files = json["files"] = Json::array();
  for (const BundleFile& file : manifest.files) {
    files.push_back({{"name", file.name},
                     {"format", file.format},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256}});
  }
  return json;
}

base::Result<Manifest> manifest_from_json(const Json& json) {
  JPROF_TRY(check_version(json));
  Manifest manifest;
  for (const auto& row : kTextMembers) {
    manifest.*row.member = base::json_string(json, row.key);
  }
  const Json& source = base::json_object(json, "source");
  for (const auto& row : kSourceMembers) {
    manifest.source.*row.member = base::json_string(source, row.key);
  }
  manifest.partial = base::json_bool(json, "partial");
  manifest.partial_reason = base::json_string(json, "partialReason");
  manifest.measured = base::json_object(json, "measured");
  for (const Json& item : base::json_array(json, "files")) {
    JPROF_TRY_ASSIGN(BundleFile file, parse_file(item));
    if (manifest.files.size() == kMaxFiles) {
      return damaged("it names too many files");
    }
    manifest.files.push_back(std::move(file));
  }
  if (!is_capture_id(manifest.id)) {
    return damaged("its id is not valid");
  }
  if (!base::parse_utc(manifest.request_time)) {
    return damaged("its request time is not valid");
  }
  return manifest;
}

std::string encode_manifest(const Manifest& manifest) {
  Json json = manifest_json(manifest);
  json["checksum"] = "sha256:" + std::string(kDigits, '0');
  std::string text = base::dump_json(json, 2) + "\n";
  const std::string digest = base::sha256_hex(text);
  text.replace(text.rfind(kChecksumLead) + kChecksumLead.size(), kDigits, digest);
  return text;
}

base::Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return base::make_failure(base::ErrorCode::kLimit, "manifest is larger than " +
                                                           std::to_string(kMaxManifestBytes) +
                                                           " bytes");
  }
  JPROF_TRY(check_text(text));
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(text));
  return manifest_from_json(json);
}

} // namespace jprof::capture
