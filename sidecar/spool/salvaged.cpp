// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/salvaged.h"

#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "lib/base/unique_fd.h"
#include "lib/capture/measured.h"
#include "lib/profile/recording_summary.h"
#include "sidecar/container/as_target.h"
#include "sidecar/sandbox/sandbox.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <new>
#include <string_view>

namespace jprof::spool {
namespace {

using std::chrono::nanoseconds;

// 512 MiB, the most that a capture has by default, take a few seconds.
constexpr std::chrono::seconds kReadingTime{60};

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
  const profile::EventInfo& event = info.events.front();
  out.event = event.name;
  out.engine = event.engine;
  out.walker = event.walker;
  out.interval = event.interval;
  // Nobody knows how long it continued after the last sample that was written.
  out.duration = std::max({nanoseconds(0), info.duration, summary.last});
  out.samples = summary.events.front().samples;
  out.rests = summary.events.front().rests;
  out.weight_ns = summary.events.front().weight;
  out.threads = summary.threads;
  if (summary.samples_in_damage > 0) {
    out.losses.push_back({"damaged chunk", summary.samples_in_damage, 0});
  }
  return out;
}

base::Result<container::Handed> summarize(int fd, const std::string& path) {
  try {
    JPROF_TRY_ASSIGN(const profile::RecordingSummary summary,
                     profile::summarize_recording_fd(fd, path));
    const base::Json told = {{"start", base::format_utc(summary.info.start)},
                             {"measured", capture::measured_json(measured_of(summary))}};
    return container::Handed{{}, base::dump_json(told)};
  } catch (const std::bad_alloc&) { // of a chunk: the capture is worth more than its description
    return base::make_failure(base::ErrorCode::kLimit,
                              "there is not enough memory to read " + path);
  }
}

// What a JVM made its recorder write is read by a separate process, which has nothing but the open
// file: whatever happens to it, the capture is sealed.
base::Result<base::Json> summarize_apart(const std::string& path) {
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, base::open_read(path));
  auto told = container::within(base::Deadline::after(kReadingTime), [&] {
    sandbox::enter({});
    return summarize(fd.get(), path);
  });
  if (told) {
    return base::parse_json(told->text);
  }
  const base::ErrorCode code = told.error().code;
  return code == base::ErrorCode::kInternal || code == base::ErrorCode::kTimeout
             ? base::make_failure(code, code == base::ErrorCode::kTimeout
                                            ? "it took too long to read " + path
                                            : "the process that read " + path + " died of it")
             : base::Result<base::Json>(base::fail(std::move(told).error()));
}

} // namespace

void describe_salvaged(const std::string& recording, capture::Manifest& manifest) {
  const auto told = summarize_apart(recording);
  if (!told) {
    capture::Measured unknown;
    unknown.salvaged = true;
    unknown.notes.push_back(told.error().message);
    manifest.measured = capture::measured_json(unknown);
    return;
  }
  manifest.start_time = base::json_string(*told, "start");
  // Through our own reader, which bounds it.
  manifest.measured =
      capture::measured_json(capture::measured_from_json(base::json_object(*told, "measured")));
}

} // namespace jprof::spool
