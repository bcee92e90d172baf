// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/salvaged.h"

#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "lib/base/unique_fd.h"
#include "lib/capture/measured.h"
#include "lib/profile/recording_summary.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <new>
#include <string_view>

namespace jprof::spool {
namespace {

using std::chrono::nanoseconds;

std::string_view fact_of(const profile::ProfileInfo& info, std::string_view name) {
  const auto found =
      std::ranges::find_if(info.facts, [&](const auto& fact) { return fact.first == name; });
  return found == info.facts.end() ? std::string_view() : std::string_view(found->second);
}

capture::Measured measured_of(const profile::RecordingSummary& summary) {
  const profile::ProfileInfo& info = summary.info;
  capture::Measured out;
  out.salvaged = true;
  const std::string_view process = fact_of(info, "process"); // "42 com.acme.Main"
  std::from_chars(process.data(), process.data() + process.size(), out.pid);
  out.java_version = fact_of(info, "JVM");
  out.agent_version = fact_of(info, "agent");
  out.event = info.event;
  out.engine = info.engine;
  out.walker = info.walker;
  out.interval = info.interval;
  // Nobody knows how long it went on after the last sample that was written.
  out.duration = std::max({nanoseconds(0), info.duration, summary.last});
  out.samples = summary.samples;
  out.weight_ns = summary.weight;
  out.threads = summary.threads;
  if (summary.samples_in_damage > 0) {
    out.losses.push_back({"damaged chunk", summary.samples_in_damage, 0});
  }
  return out;
}

base::Result<profile::RecordingSummary> summarize(const std::string& path) {
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, base::open_read(path));
  try {
    return profile::summarize_recording_fd(fd.get(), path);
  } catch (const std::bad_alloc&) { // of a chunk: the capture is worth more than its description
    return base::make_failure(base::ErrorCode::kLimit,
                              "there is not enough memory to read " + path);
  }
}

} // namespace

void describe_salvaged(const std::string& recording, capture::Manifest& manifest) {
  const auto summary = summarize(recording);
  if (!summary) {
    capture::Measured unknown;
    unknown.salvaged = true;
    unknown.notes.push_back(summary.error().message);
    manifest.measured = capture::measured_json(unknown);
    return;
  }
  manifest.start_time = base::format_utc(summary->info.start);
  manifest.measured = capture::measured_json(measured_of(*summary));
}

} // namespace jprof::spool
