// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/reply.h"

#include "lib/base/file_name.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace jprof::protocol {
namespace {

using base::Json;

constexpr std::size_t kMaxFiles = 32;
constexpr std::size_t kMaxMethods = 64;

std::uint64_t natural(const Json& json, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::json_int(json, key)));
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

base::Result<ResultFile> parse_file(const Json& json) {
  ResultFile file;
  file.name = base::json_string(json, "name");
  file.bytes = natural(json, "bytes");
  file.offset = natural(json, "offset");
  file.sha256 = base::json_string(json, "sha256");
  if (!base::is_plain_file_name(file.name) || !is_sha256_hex(file.sha256) ||
      file.offset > file.bytes) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              "a result file with an unsafe name, checksum or offset: '" +
                                  file.name + "'");
  }
  return file;
}

Json encode_methods(const std::vector<HotMethod>& methods) {
  Json out = Json::array();
  for (const HotMethod& method : methods) {
    out.push_back({{"name", method.name},
                   {"selfWeight", method.self_weight},
                   {"selfPermille", method.self_permille}});
  }
  return out;
}

// Of a reason that we do not know what its exit code says, of neither nonsense: only who names a
// bug has one.
base::ErrorCode code_of(const Json& json) {
  using base::ErrorCode;
  const std::string word = base::json_string(json, "reason");
  const ErrorCode known = base::code_from_word(word);
  if (known != ErrorCode::kInternal || word == base::reason_word(ErrorCode::kInternal)) {
    return known;
  }
  for (const ErrorCode code :
       {ErrorCode::kUsage, ErrorCode::kTargetNotFound, ErrorCode::kPermission,
        ErrorCode::kAttachFailed, ErrorCode::kBusy}) {
    if (base::exit_code(code) == base::json_int(json, "exitCode")) {
      return code;
    }
  }
  return ErrorCode::kProtocol;
}

} // namespace

std::string encode_progress(const Progress& progress) {
  return base::dump_json({{"id", progress.id},
                          {"phase", progress.phase},
                          {"elapsedNs", progress.elapsed.count()},
                          {"durationNs", progress.duration.count()},
                          {"samples", progress.samples},
                          {"lost", progress.lost},
                          {"hottest", encode_methods(progress.hottest)}});
}

base::Result<Progress> parse_progress(std::string_view payload) {
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(payload));
  Progress progress;
  progress.id = base::json_string(json, "id");
  progress.phase = base::json_string(json, "phase");
  progress.elapsed = std::chrono::nanoseconds(base::json_int(json, "elapsedNs"));
  progress.duration = std::chrono::nanoseconds(base::json_int(json, "durationNs"));
  progress.samples = natural(json, "samples");
  progress.lost = natural(json, "lost");
  for (const Json& item : base::json_array(json, "hottest")) {
    if (progress.hottest.size() == kMaxMethods) {
      break;
    }
    progress.hottest.push_back(
        {base::json_string(item, "name"), natural(item, "selfWeight"),
         static_cast<std::uint32_t>(std::min<std::uint64_t>(natural(item, "selfPermille"), 1000))});
  }
  return progress;
}

std::string encode_result(const ResultMessage& result) {
  Json files = Json::array();
  for (const ResultFile& file : result.files) {
    files.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"offset", file.offset},
                     {"sha256", file.sha256}});
  }
  return base::dump_json({{"id", result.id},
                          {"exitCode", result.exit_code},
                          {"reason", result.reason},
                          {"message", result.message},
                          {"cure", result.cure},
                          {"manifest", result.manifest},
                          {"files", std::move(files)},
                          {"captures", result.captures},
                          {"targets", result.targets}});
}

base::Result<ResultMessage> parse_result(std::string_view payload) {
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(payload));
  if (!json.is_object()) {
    return base::make_failure(base::ErrorCode::kProtocol, "a result that is not an object");
  }
  ResultMessage result;
  result.id = base::json_string(json, "id");
  result.exit_code =
      static_cast<int>(std::clamp<std::int64_t>(base::json_int(json, "exitCode"), 0, 255));
  result.reason = base::json_string(json, "reason");
  result.message = base::json_string(json, "message");
  result.cure = base::json_string(json, "cure");
  result.manifest = base::json_object(json, "manifest");
  result.captures = base::json_array(json, "captures");
  result.targets = base::json_array(json, "targets");
  for (const Json& item : base::json_array(json, "files")) {
    if (result.files.size() == kMaxFiles) {
      return base::make_failure(base::ErrorCode::kProtocol, "a result of too many files");
    }
    JPROF_TRY_ASSIGN(ResultFile file, parse_file(item));
    for (const ResultFile& other : result.files) {
      if (other.name == file.name) {
        return base::make_failure(base::ErrorCode::kProtocol,
                                  "a result with two files named '" + file.name + "'");
      }
    }
    result.files.push_back(std::move(file));
  }
  return result;
}

std::string encode_error(const ErrorMessage& message) {
  Json json = {{"reason", base::reason_word(message.error.code)},
               {"exitCode", base::exit_code(message.error.code)},
               {"message", message.error.message},
               {"cure", message.error.cure},
               {"errno", message.error.os_errno},
               {"id", message.id}};
  if (!message.busy_id.empty()) {
    json["busy"] = {{"requester", message.busy_requester},
                    {"id", message.busy_id},
                    {"until", message.busy_until}};
  }
  return base::dump_json(json);
}

base::Result<ErrorMessage> parse_error(std::string_view payload) {
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(payload));
  ErrorMessage out;
  out.error.code = code_of(json);
  out.error.message = base::json_string(json, "message");
  if (out.error.message.empty()) {
    out.error.message = "the sidecar failed and did not say why";
  }
  out.error.cure = base::json_string(json, "cure");
  out.error.os_errno = static_cast<int>(
      std::clamp<std::int64_t>(base::json_int(json, "errno"), 0, std::numeric_limits<int>::max()));
  out.id = base::json_string(json, "id");
  const Json& busy = base::json_object(json, "busy");
  out.busy_requester = base::json_string(busy, "requester");
  out.busy_id = base::json_string(busy, "id");
  out.busy_until = base::json_string(busy, "until");
  return out;
}

} // namespace jprof::protocol
