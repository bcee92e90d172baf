// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/admission.h"

#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/base/timestamp.h"
#include "lib/capture/capture_id.h"
#include "sidecar/jvm/diagnostic.h"

#include <algorithm>

namespace jprof::serve {
namespace {

using base::ErrorCode;

const std::string& first_of(const std::string& known, const std::string& claimed) {
  return known.empty() ? claimed : known;
}

} // namespace

base::Status check_allowed(const config::SidecarConfig& config, const std::string& word) {
  if (std::find(config.allow.begin(), config.allow.end(), word) != config.allow.end()) {
    return {};
  }
  return base::make_failure(ErrorCode::kNotAllowed, "this sidecar does not allow '" + word + "'",
                            "add it to 'allow' in the sidecar's configuration");
}

base::Status check_request(const config::SidecarConfig& config,
                           const protocol::RecordRequest& request) {
  JPROF_TRY(check_allowed(config, "record"));
  if (request.leave_behind) {
    JPROF_TRY(check_allowed(config, "leaveBehind"));
  }
  if (!capture::is_capture_id(request.id)) {
    return base::make_failure(ErrorCode::kUsage,
                              "not a capture id: '" + base::printable(request.id, 80) + "'",
                              "use a ULID or 64 lower-case hexadecimal digits");
  }
  if (request.trigger != "manual" && request.trigger != "schedule" &&
      request.trigger != "incident") {
    return base::make_failure(ErrorCode::kUsage,
                              "not a trigger: '" + base::printable(request.trigger, 80) + "'",
                              "use manual, schedule or incident");
  }
  const config::SidecarLimits& limits = config.limits;
  if (request.duration > limits.longest_duration) {
    return base::make_failure(
        ErrorCode::kLimit,
        "this sidecar records at most " + base::format_duration(limits.longest_duration) +
            ", but the request was for " + base::format_duration(request.duration),
        "ask for less, or raise limits.longestDuration of the sidecar");
  }
  if (request.interval.count() != 0 && request.interval < limits.shortest_interval) {
    return base::make_failure(
        ErrorCode::kLimit,
        "this sidecar samples at most every " + base::format_duration(limits.shortest_interval) +
            ", but the request was for " + base::format_duration(request.interval),
        "ask for a longer one, or lower limits.shortestInterval");
  }
  return {};
}

base::Status check_attach(const config::SidecarConfig& config,
                          const protocol::AttachRequest& request) {
  std::vector<std::string> arguments = request.arguments;
  if (request.command == "dumpheap") {
    arguments.insert(arguments.begin(), "/"); // the path is made here, not by the caller
  }
  JPROF_TRY(jvm::make_diagnostic(request.command, arguments)); // kUsage for an unknown one
  JPROF_TRY(check_allowed(config, request.command));
  if (request.timeout > config.limits.longest_duration) {
    return base::make_failure(ErrorCode::kLimit,
                              "this sidecar waits at most " +
                                  base::format_duration(config.limits.longest_duration) +
                                  " for a JVM",
                              "ask for less, or raise limits.longestDuration of the sidecar");
  }
  return {};
}

capture::Manifest draft_manifest(const config::SidecarConfig& config,
                                 const protocol::RecordRequest& request,
                                 std::chrono::system_clock::time_point now) {
  capture::Manifest draft;
  draft.id = request.id;
  draft.trigger = request.trigger;
  draft.requester = request.requester;
  draft.cause = request.cause;
  draft.request_time =
      base::parse_utc(request.request_time) ? request.request_time : base::format_utc(now);
  draft.jprof_version = JPROF_VERSION;
  const config::SourceSettings& known = config.source;
  const protocol::PodFacts& claimed = request.pod;
  draft.source.cluster = first_of(known.cluster, claimed.cluster);
  draft.source.namespace_name = first_of(known.namespace_name, claimed.namespace_name);
  draft.source.pod = first_of(known.pod, claimed.pod);
  draft.source.pod_uid = first_of(known.pod_uid, claimed.pod_uid);
  draft.source.node = first_of(known.node, claimed.node);
  // A caller that chose a container knows its name; the configuration has that of the usual one.
  draft.source.container = request.container_id.empty()
                               ? first_of(known.container, claimed.container)
                               : first_of(claimed.container, known.container);
  draft.source.workload_kind = first_of(known.workload_kind, claimed.workload_kind);
  draft.source.workload = first_of(known.workload, claimed.workload);
  draft.source.image = claimed.image;
  draft.source.image_digest = claimed.image_digest;
  return draft;
}

} // namespace jprof::serve
