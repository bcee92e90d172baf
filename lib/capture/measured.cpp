// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/measured.h"

#include <algorithm>
#include <array>

namespace jprof::capture {
namespace {

using base::Json;

constexpr std::size_t kMaxEntries = 64;

template <typename T>
struct Row {
  const char* key;
  T Measured::*member;
};

constexpr std::array<Row<std::string>, 5> kTexts{{{"javaVersion", &Measured::java_version},
                                                  {"agentVersion", &Measured::agent_version},
                                                  {"event", &Measured::event},
                                                  {"engine", &Measured::engine},
                                                  {"walker", &Measured::walker}}};

struct CostRow {
  const char* key;
  std::chrono::nanoseconds Measured::Cost::*member;
};

constexpr std::array<CostRow, 6> kCosts{{{"totalNs", &Measured::Cost::total},
                                         {"threadNs", &Measured::Cost::thread},
                                         {"handlersNs", &Measured::Cost::handlers},
                                         {"longestHandlerNs", &Measured::Cost::longest_handler},
                                         {"deliveryNs", &Measured::Cost::delivery},
                                         {"startNs", &Measured::Cost::start}}};

constexpr std::array<Row<std::chrono::nanoseconds>, 5> kTimes{
    {{"durationNs", &Measured::duration},
     {"intervalNs", &Measured::interval},
     {"intervalGotNs", &Measured::interval_got},
     {"tickNs", &Measured::tick},
     {"processCpuNs", &Measured::process_cpu}}};

constexpr std::array<Row<std::uint64_t>, 12> kCounts{
    {{"samples", &Measured::samples},
     {"nominalSamples", &Measured::nominal_samples},
     {"errorSamples", &Measured::error_samples},
     {"maxDepth", &Measured::max_depth},
     {"rests", &Measured::rests},
     {"weightNs", &Measured::weight_ns},
     {"signals", &Measured::signals},
     {"inFlight", &Measured::in_flight},
     {"threads", &Measured::threads},
     {"threadsUnarmed", &Measured::threads_unarmed},
     {"timersRefused", &Measured::timers_refused},
     {"timersMoved", &Measured::timers_moved}}};

std::uint64_t count_at(const Json& json, const char* key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::json_int(json, key)));
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> out;
  for (const Json& text : base::json_array(json, key)) {
    if (text.is_string() && out.size() < kMaxEntries) {
      out.push_back(text.get<std::string>());
    }
  }
  return out;
}

} // namespace

std::uint64_t Measured::lost() const {
  std::uint64_t sum = 0;
  for (const Loss& loss : losses) {
    sum += loss.samples;
  }
  return sum;
}

Json measured_json(const Measured& measured) {
  Json out = {{"pid", measured.pid}};
  for (const auto& row : kTexts) {
    out[row.key] = measured.*row.member;
  }
  for (const auto& row : kTimes) {
    out[row.key] = (measured.*row.member).count();
  }
  for (const auto& row : kCounts) {
    out[row.key] = measured.*row.member;
  }
  Json& cost = out["agentCost"] = Json::object();
  for (const CostRow& row : kCosts) {
    cost[row.key] = (measured.cost.*row.member).count();
  }
  cost["limitPermille"] = measured.cost.limit_permille;
  out["coverage"] = coverage_json(measured.coverage);
  out["oldCodeNs"] = measured.old_code ? Json(measured.old_code->count()) : Json();
  out["accounted"] = measured.accounted;
  out["interrupted"] = measured.interrupted;
  if (measured.salvaged) {
    out["salvaged"] = true;
  }
  Json& reasons = out["errorReasons"] = Json::array();
  for (const Measured::ErrorReason& reason : measured.error_reasons) {
    reasons.push_back({{"frame", reason.frame}, {"samples", reason.samples}});
  }
  Json& losses = out["losses"] = Json::array();
  for (const Measured::Loss& loss : measured.losses) {
    losses.push_back(
        {{"reason", loss.reason}, {"samples", loss.samples}, {"weightNs", loss.weight_ns}});
  }
  Json& hottest = out["hottest"] = Json::array();
  for (const Measured::Method& method : measured.hottest) {
    hottest.push_back(
        {{"name", method.name}, {"samples", method.samples}, {"weightNs", method.weight_ns}});
  }
  out["residue"] = measured.residue;
  out["warnings"] = measured.warnings;
  out["notes"] = measured.notes;
  out["skippedDeliveries"] = measured.skipped;
  out["fileErrors"] = measured.file_errors;
  return out;
}

Measured measured_from_json(const Json& json) {
  Measured out;
  out.pid = base::json_int(json, "pid");
  for (const auto& row : kTexts) {
    out.*row.member = base::json_string(json, row.key);
  }
  for (const auto& row : kTimes) {
    out.*row.member = std::chrono::nanoseconds(base::json_int(json, row.key));
  }
  for (const auto& row : kCounts) {
    out.*row.member = count_at(json, row.key);
  }
  const Json& cost = base::json_object(json, "agentCost");
  for (const CostRow& row : kCosts) {
    out.cost.*row.member = std::chrono::nanoseconds(base::json_int(cost, row.key));
  }
  out.cost.limit_permille = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count_at(cost, "limitPermille"), UINT32_MAX));
  out.coverage = coverage_from_json(base::json_object(json, "coverage"));
  if (json.contains("oldCodeNs") && json.at("oldCodeNs").is_number_integer()) {
    out.old_code = std::chrono::nanoseconds(std::clamp<std::int64_t>(
        base::json_int(json, "oldCodeNs"), 0, out.coverage.samples.count()));
  }
  out.accounted = base::json_bool(json, "accounted");
  out.interrupted = base::json_bool(json, "interrupted");
  out.salvaged = base::json_bool(json, "salvaged");
  for (const Json& reason : base::json_array(json, "errorReasons")) {
    if (out.error_reasons.size() < kMaxEntries) {
      out.error_reasons.push_back(
          {base::json_string(reason, "frame"), count_at(reason, "samples")});
    }
  }
  for (const Json& loss : base::json_array(json, "losses")) {
    if (out.losses.size() < kMaxEntries) {
      out.losses.push_back({base::json_string(loss, "reason"), count_at(loss, "samples"),
                            count_at(loss, "weightNs")});
    }
  }
  for (const Json& method : base::json_array(json, "hottest")) {
    if (out.hottest.size() < kMaxEntries) {
      out.hottest.push_back({base::json_string(method, "name"), count_at(method, "samples"),
                             count_at(method, "weightNs")});
    }
  }
  out.residue = texts_at(json, "residue");
  out.warnings = texts_at(json, "warnings");
  out.notes = texts_at(json, "notes");
  out.skipped = texts_at(json, "skippedDeliveries");
  out.file_errors = texts_at(json, "fileErrors");
  return out;
}

} // namespace jprof::capture
