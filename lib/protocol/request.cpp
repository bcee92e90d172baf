// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/request.h"

#include "lib/base/json.h"

#include <array>
#include <limits>
#include <utility>

namespace jprof::protocol {
namespace {

using base::Json;

constexpr std::array<std::pair<RequestKind, std::string_view>, 7> kKinds{
    {{RequestKind::kRecord, "record"},
     {RequestKind::kFetch, "fetch"},
     {RequestKind::kList, "list"},
     {RequestKind::kTargets, "targets"},
     {RequestKind::kRelease, "release"},
     {RequestKind::kAttach, "attach"},
     {RequestKind::kQuit, "quit"}}};
constexpr std::size_t kMaxFiles = 32;
constexpr std::int64_t kDay = 86'400'000'000'000; // in nanoseconds
constexpr std::size_t kMaxArguments = 256;
constexpr std::size_t kMaxArgumentLength = 256 * 1024; // what a JVM takes at most
constexpr std::size_t kMaxTextLength = 1024;

struct PodMember {
  const char* key;
  std::string PodFacts::*member;
};
constexpr std::array<PodMember, 10> kPodMembers{{{"cluster", &PodFacts::cluster},
                                                 {"namespace", &PodFacts::namespace_name},
                                                 {"pod", &PodFacts::pod},
                                                 {"podUid", &PodFacts::pod_uid},
                                                 {"node", &PodFacts::node},
                                                 {"container", &PodFacts::container},
                                                 {"workloadKind", &PodFacts::workload_kind},
                                                 {"workload", &PodFacts::workload},
                                                 {"image", &PodFacts::image},
                                                 {"imageDigest", &PodFacts::image_digest}}};

// The members of all requests; each has one type, whatever kind of request it is in. Others come
// from newer callers and are ignored.
struct MemberType {
  const char* key;
  Json::value_t type;
};
constexpr Json::value_t kText = Json::value_t::string;
constexpr Json::value_t kFlag = Json::value_t::boolean;
constexpr Json::value_t kNumber = Json::value_t::number_integer;
constexpr Json::value_t kList = Json::value_t::array;
constexpr std::array<MemberType, 26> kMembers{
    {{"type", kText},         {"id", kText},
     {"trigger", kText},      {"requester", kText},
     {"cause", kText},        {"requestTime", kText},
     {"pid", kNumber},        {"containerId", kText},
     {"durationNs", kNumber}, {"intervalNs", kNumber},
     {"event", kText},        {"engine", kText},
     {"walker", kText},       {"leaveBehind", kFlag},
     {"force", kFlag},        {"podMemoryBytes", kNumber},
     {"formats", kList},      {"sendFiles", kFlag},
     {"join", kFlag},         {"pod", Json::value_t::object},
     {"names", kList},        {"offsets", kList},
     {"wait", kFlag},         {"command", kText},
     {"arguments", kList},    {"timeoutNs", kNumber}}};

std::string_view type_word(Json::value_t type) {
  switch (type) {
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "true or false";
  case Json::value_t::array:
    return "a list";
  case Json::value_t::object:
    return "an object";
  default:
    return "a whole number";
  }
}

base::Status check_type(const Json& json, const char* key, Json::value_t type) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null() || found->type() == type ||
      (type == kNumber && found->is_number_integer())) {
    return {};
  }
  return base::make_failure(base::ErrorCode::kProtocol,
                            std::string("request member '") + key + "' must be " +
                                std::string(type_word(type)) + ", but is " +
                                (found->is_number() ? "a number" : found->type_name()),
                            "send what docs/formats/protocol.md specifies for it");
}

// A member with the wrong type would count as absent: a pid in quotes as any JVM.
base::Status check_types(const Json& json) {
  if (!json.is_object()) {
    return base::make_failure(base::ErrorCode::kProtocol, "the request is not a JSON object",
                              "send what docs/formats/protocol.md specifies");
  }
  for (const MemberType& member : kMembers) {
    JPROF_TRY(check_type(json, member.key, member.type));
  }
  for (const PodMember& row : kPodMembers) {
    JPROF_TRY(check_type(base::json_object(json, "pod"), row.key, kText));
  }
  return {};
}

base::Result<std::string> short_text(const Json& json, const char* key, std::string_view fallback) {
  std::string text = base::json_string(json, key, fallback);
  if (text.size() > kMaxTextLength) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              std::string("request member '") + key + "' is longer than " +
                                  std::to_string(kMaxTextLength) + " bytes");
  }
  return text;
}

base::Result<std::int64_t> in_range(const Json& json, const char* key, std::int64_t least,
                                    std::int64_t most) {
  const std::int64_t value = base::json_int(json, key);
  if (value < least || value > most) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              std::string("request member '") + key +
                                  "' is out of range: " + std::to_string(value));
  }
  return value;
}

base::Result<std::uint64_t> pod_memory_in(const Json& json) {
  JPROF_TRY_ASSIGN(const std::int64_t bytes,
                   in_range(json, "podMemoryBytes", 0, std::numeric_limits<std::int64_t>::max()));
  return static_cast<std::uint64_t>(bytes);
}

base::Result<std::vector<std::string>> text_list(const Json& json, const char* key,
                                                 std::size_t most = kMaxFiles,
                                                 std::size_t longest = kMaxTextLength) {
  std::vector<std::string> out;
  for (const Json& item : base::json_array(json, key)) {
    if (!item.is_string() || item.get_ref<const std::string&>().size() > longest ||
        out.size() == most) {
      return base::make_failure(base::ErrorCode::kProtocol,
                                std::string("request member '") + key + "' is not a short list");
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

Json encode_record(const RecordRequest& record) {
  Json json = {{"type", "record"},
               {"id", record.id},
               {"trigger", record.trigger},
               {"requester", record.requester},
               {"cause", record.cause},
               {"requestTime", record.request_time},
               {"pid", record.pid},
               {"containerId", record.container_id},
               {"durationNs", record.duration.count()},
               {"intervalNs", record.interval.count()},
               {"event", record.event},
               {"engine", record.engine},
               {"walker", record.walker},
               {"leaveBehind", record.leave_behind},
               {"force", record.force},
               {"podMemoryBytes", record.pod_memory},
               {"formats", record.formats},
               {"sendFiles", record.send_files},
               {"join", record.join}};
  Json pod = Json::object();
  for (const PodMember& row : kPodMembers) {
    pod[row.key] = record.pod.*row.member;
  }
  json["pod"] = std::move(pod);
  return json;
}

base::Result<RecordRequest> parse_record(const Json& json) {
  RecordRequest record;
  JPROF_TRY_ASSIGN(record.id, short_text(json, "id", ""));
  JPROF_TRY_ASSIGN(record.trigger, short_text(json, "trigger", record.trigger));
  JPROF_TRY_ASSIGN(record.requester, short_text(json, "requester", ""));
  JPROF_TRY_ASSIGN(record.cause, short_text(json, "cause", ""));
  JPROF_TRY_ASSIGN(record.request_time, short_text(json, "requestTime", ""));
  JPROF_TRY_ASSIGN(record.event, short_text(json, "event", record.event));
  JPROF_TRY_ASSIGN(record.engine, short_text(json, "engine", ""));
  JPROF_TRY_ASSIGN(record.walker, short_text(json, "walker", ""));
  JPROF_TRY_ASSIGN(record.container_id, short_text(json, "containerId", ""));
  JPROF_TRY_ASSIGN(const std::int64_t pid,
                   in_range(json, "pid", 0, std::numeric_limits<std::int32_t>::max()));
  JPROF_TRY_ASSIGN(const std::int64_t duration, in_range(json, "durationNs", 1, 7 * kDay));
  JPROF_TRY_ASSIGN(const std::int64_t interval, in_range(json, "intervalNs", 0, kDay));
  JPROF_TRY_ASSIGN(record.pod_memory, pod_memory_in(json));
  JPROF_TRY_ASSIGN(record.formats, text_list(json, "formats"));
  record.pid = static_cast<std::uint32_t>(pid);
  record.duration = std::chrono::nanoseconds(duration);
  record.interval = std::chrono::nanoseconds(interval);
  record.leave_behind = base::json_bool(json, "leaveBehind");
  record.force = base::json_bool(json, "force");
  record.send_files = base::json_bool(json, "sendFiles", true);
  record.join = base::json_bool(json, "join", false);
  const Json& pod = base::json_object(json, "pod");
  for (const PodMember& row : kPodMembers) {
    JPROF_TRY_ASSIGN(record.pod.*row.member, short_text(pod, row.key, ""));
  }
  return record;
}

Json encode_fetch(const FetchRequest& fetch) {
  return {{"type", "fetch"},
          {"id", fetch.id},
          {"names", fetch.names},
          {"offsets", fetch.offsets},
          {"wait", fetch.wait}};
}

base::Result<FetchRequest> parse_fetch(const Json& json) {
  FetchRequest fetch;
  JPROF_TRY_ASSIGN(fetch.id, short_text(json, "id", ""));
  JPROF_TRY_ASSIGN(fetch.names, text_list(json, "names"));
  fetch.wait = base::json_bool(json, "wait", true);
  for (const Json& offset : base::json_array(json, "offsets")) {
    if (!offset.is_number_unsigned() || fetch.offsets.size() == fetch.names.size()) {
      return base::make_failure(base::ErrorCode::kProtocol,
                                "request member 'offsets' does not match 'names'");
    }
    fetch.offsets.push_back(offset.get<std::uint64_t>());
  }
  fetch.offsets.resize(fetch.names.size(), 0);
  return fetch;
}

Json encode_attach(const AttachRequest& attach) {
  return {{"type", "attach"},
          {"requester", attach.requester},
          {"pid", attach.pid},
          {"command", attach.command},
          {"arguments", attach.arguments},
          {"timeoutNs", attach.timeout.count()},
          {"containerId", attach.container_id}};
}

base::Result<AttachRequest> parse_attach(const Json& json) {
  AttachRequest attach;
  JPROF_TRY_ASSIGN(attach.requester, short_text(json, "requester", ""));
  JPROF_TRY_ASSIGN(attach.command, short_text(json, "command", ""));
  JPROF_TRY_ASSIGN(attach.container_id, short_text(json, "containerId", ""));
  JPROF_TRY_ASSIGN(attach.arguments,
                   text_list(json, "arguments", kMaxArguments, kMaxArgumentLength));
  JPROF_TRY_ASSIGN(const std::int64_t pid,
                   in_range(json, "pid", 0, std::numeric_limits<std::int32_t>::max()));
  JPROF_TRY_ASSIGN(const std::int64_t timeout, in_range(json, "timeoutNs", 0, kDay));
  attach.pid = static_cast<std::uint32_t>(pid);
  attach.timeout = std::chrono::nanoseconds(timeout);
  return attach;
}

} // namespace

std::string_view request_word(RequestKind kind) {
  for (const auto& [known, word] : kKinds) {
    if (known == kind) {
      return word;
    }
  }
  return "";
}

std::string encode_request(const Request& request) {
  switch (request.kind) {
  case RequestKind::kRecord:
    return base::dump_json(encode_record(request.record));
  case RequestKind::kFetch:
    return base::dump_json(encode_fetch(request.fetch));
  case RequestKind::kRelease:
    return base::dump_json({{"type", "release"}, {"id", request.release.id}});
  case RequestKind::kAttach:
    return base::dump_json(encode_attach(request.attach));
  case RequestKind::kTargets:
    return base::dump_json({{"type", "targets"}, {"podMemoryBytes", request.targets.pod_memory}});
  case RequestKind::kList:
  case RequestKind::kQuit:
    break;
  }
  return base::dump_json({{"type", request_word(request.kind)}});
}

base::Result<Request> parse_request(std::string_view payload) {
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(payload));
  JPROF_TRY(check_types(json));
  const std::string type = base::json_string(json, "type");
  Request request;
  for (const auto& [kind, word] : kKinds) {
    if (word != type) {
      continue;
    }
    request.kind = kind;
    if (kind == RequestKind::kRecord) {
      JPROF_TRY_ASSIGN(request.record, parse_record(json));
    } else if (kind == RequestKind::kFetch) {
      JPROF_TRY_ASSIGN(request.fetch, parse_fetch(json));
    } else if (kind == RequestKind::kRelease) {
      JPROF_TRY_ASSIGN(request.release.id, short_text(json, "id", ""));
    } else if (kind == RequestKind::kAttach) {
      JPROF_TRY_ASSIGN(request.attach, parse_attach(json));
    } else if (kind == RequestKind::kTargets) {
      JPROF_TRY_ASSIGN(request.targets.pod_memory, pod_memory_in(json));
    }
    return request;
  }
  return base::make_failure(
      base::ErrorCode::kProtocol,
      "the sidecar (jprof " JPROF_VERSION ") does not know requests of type '" + type + "'",
      "upgrade the sidecar's image");
}

std::string encode_cancel(CancelMode mode) {
  return base::dump_json({{"mode", mode == CancelMode::kKeep ? "keep" : "discard"}});
}

base::Result<CancelMode> parse_cancel(std::string_view payload) {
  JPROF_TRY_ASSIGN(const Json json, base::parse_json(payload));
  // Whatever a newer caller may mean: keeping loses nothing.
  return base::json_string(json, "mode") == "discard" ? CancelMode::kDiscard : CancelMode::kKeep;
}

} // namespace jprof::protocol
