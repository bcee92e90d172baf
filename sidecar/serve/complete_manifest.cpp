// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/complete_manifest.h"

#include "lib/base/timestamp.h"

#include <utility>

namespace jprof::serve {
namespace {

using base::Json;

// A method's name may be 64 KiB; the recording has it whole.
constexpr std::size_t kLongestName = 512;

Json hottest_of(const record::CaptureOutcome& outcome) {
  Json out = Json::array();
  for (const record::MethodShare& method : outcome.hottest) {
    out.push_back({{"name", method.name.substr(0, kLongestName)},
                   {"samples", method.samples},
                   {"weightNs", method.weight}});
  }
  return out;
}

Json losses_of(const record::CaptureOutcome& outcome) {
  Json out = Json::array();
  for (const profile::Loss& loss : outcome.losses) {
    out.push_back({{"reason", loss.reason}, {"samples", loss.samples}, {"weightNs", loss.weight}});
  }
  return out;
}

Json cost_of(const record::AgentCost& cost) {
  return {{"totalNs", cost.total().count()},     {"threadNs", cost.thread_cpu.count()},
          {"handlersNs", cost.handlers.count()}, {"longestHandlerNs", cost.longest_handler.count()},
          {"deliveryNs", cost.delivery.count()}, {"startNs", cost.start.count()}};
}

Json file_errors_of(const record::CaptureOutcome& outcome) {
  Json out = Json::array();
  for (const base::Error& error : outcome.file_errors) {
    out.push_back(error.text());
  }
  return out;
}

} // namespace

capture::Manifest complete_manifest(capture::Manifest draft,
                                    const record::CaptureOutcome& outcome) {
  draft.start_time = base::format_utc(outcome.start);
  draft.partial = outcome.partial;
  draft.partial_reason = outcome.partial_reason;
  draft.measured = {{"event", outcome.event},
                    {"engine", outcome.engine},
                    {"walker", outcome.walker},
                    {"durationNs", outcome.duration.count()},
                    {"intervalNs", outcome.interval.count()},
                    {"intervalGotNs", outcome.interval_got.count()},
                    {"samples", outcome.samples},
                    {"errorSamples", outcome.error_samples},
                    {"weightNs", outcome.weight},
                    {"signals", outcome.signals},
                    {"inFlight", outcome.in_flight},
                    {"accounted", outcome.accounted},
                    {"losses", losses_of(outcome)},
                    {"processCpuNs", outcome.process_cpu.count()},
                    {"threads", outcome.threads},
                    {"threadsUnarmed", outcome.threads_unarmed},
                    {"agentCost", cost_of(outcome.cost)},
                    {"agentVersion", outcome.agent_version},
                    {"javaVersion", outcome.java_version},
                    {"pid", outcome.pid},
                    {"interrupted", outcome.interrupted},
                    {"hottest", hottest_of(outcome)},
                    {"notes", outcome.notes},
                    {"fileErrors", file_errors_of(outcome)}};
  for (const record::CapturedFile& file : outcome.files) {
    draft.files.push_back({file.name, file.format, file.bytes, file.sha256});
  }
  return draft;
}

} // namespace jprof::serve
