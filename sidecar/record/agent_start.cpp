// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/agent_start.h"

#include "lib/base/random.h"
#include "sidecar/inject/agent_link.h"
#include "sidecar/record/agent_channel.h"

#include <algorithm>
#include <optional>
#include <span>
#include <variant>

namespace jprof::record {

using base::ErrorCode;

namespace {

// Only a request for such a walker can be refused because of it: kUsage blames our caller, and a
// hostile JVM must not be able to do that.
bool is_possible(const wire::FailedMessage& failed, const RecorderOptions& options) {
  return failed.status != static_cast<std::uint32_t>(wire::AgentStatus::kLeavesBehind) ||
         (options.walker != wire::Walker::kVmStructs && !options.may_leave_behind);
}

} // namespace

base::Result<std::array<std::uint64_t, 2>> new_session_id() {
  std::array<std::uint64_t, 2> id{};
  JPROF_TRY(base::random_bytes(std::as_writable_bytes(std::span(id))));
  return id;
}

base::Result<wire::StartedMessage> start_agent(const RecorderInput& input,
                                               const RecorderOptions& options, int region,
                                               const std::array<std::uint64_t, 2>& session) {
  wire::StartMessage start{};
  start.version = wire::kControlVersion;
  start.engine = static_cast<std::uint32_t>(options.engine);
  start.walker = static_cast<std::uint32_t>(options.walker);
  start.max_depth = options.max_depth;
  start.region_bytes = options.region_bytes;
  std::ranges::copy(session, start.session);
  start.interval_ns = static_cast<std::uint64_t>(options.interval.count());
  start.duration_ns = static_cast<std::uint64_t>(options.duration.count());
  start.max_overhead_permille = options.max_overhead_permille;
  start.flags =
      options.may_leave_behind ? static_cast<std::uint64_t>(wire::StartFlag::kMayLeaveBehind) : 0;
  JPROF_TRY(send_start(input.socket, start, region));
  JPROF_TRY_ASSIGN(const std::optional<AgentMessage> answer,
                   receive_within(input.socket, options.start_timeout));
  if (!answer) {
    return base::make_failure(ErrorCode::kTimeout,
                              "the agent did not answer the start message in time",
                              "the JVM may be stopped or starved of CPU: see jprof doctor");
  }
  if (const auto* failed = std::get_if<wire::FailedMessage>(&*answer)) {
    if (!is_possible(*failed, options)) {
      return base::make_failure(ErrorCode::kProtocol,
                                "the agent refused a stack walker that it was not asked for",
                                "restart the JVM: what is resident in it is not jprof's agent");
    }
    return base::fail(inject::agent_error(*failed));
  }
  if (const auto* started = std::get_if<wire::StartedMessage>(&*answer)) {
    return *started;
  }
  return base::make_failure(ErrorCode::kAgentFailed, "the agent hung up before the recording began",
                            "try again; if that does not help, restart the JVM");
}

} // namespace jprof::record
