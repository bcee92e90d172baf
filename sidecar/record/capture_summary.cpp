// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_summary.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace jprof::record {
namespace {

using base::Json;
using std::chrono::nanoseconds;

constexpr std::size_t kNameBytes = 120;

// With so many digits behind the point.
std::string decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// With three significant digits.
std::string short_number(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

double seconds(nanoseconds time) {
  return static_cast<double>(time.count()) / 1e9;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// "850 us", "9.98 ms", "10.2 s".
std::string short_time(nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  if (ns < 1e3) {
    return decimal(ns, 0) + " ns";
  }
  if (ns < 1e6) {
    return short_number(ns / 1e3) + " us";
  }
  return ns < 1e9 ? short_number(ns / 1e6) + " ms" : short_number(ns / 1e9) + " s";
}

std::string samples_line(const CaptureOutcome& o) {
  std::string line = "samples   " + std::to_string(o.samples) + " in " +
                     decimal(seconds(o.duration), 1) + " s of " + base::printable(o.event) + ", " +
                     std::to_string(o.signals) + " signals";
  line += o.accounted ? ", all accounted for\n" : "; the counts do not agree to the sample\n";
  if (o.error_samples > 0) {
    line += "          " + std::to_string(o.error_samples) + " of them (" +
            decimal(share(o.error_samples, o.samples), 2) + " %) without a whole stack\n";
  }
  return line;
}

std::string losses_lines(const CaptureOutcome& o) {
  std::string lines;
  for (const profile::Loss& loss : o.losses) {
    lines +=
        "lost      " + std::to_string(loss.samples) + "  " + base::printable(loss.reason) + "\n";
  }
  return lines.empty() ? "lost      none\n" : lines;
}

std::string rate_line(const CaptureOutcome& o) {
  const std::string asked = "interval  " + short_time(o.interval) + " of CPU time asked, ";
  if (o.samples == 0) {
    return asked + "no sample\n";
  }
  const std::string tick =
      o.tick > o.interval ? " (the kernel looks at CPU timers every " + short_time(o.tick) + ")"
                          : "";
  return asked + short_time(o.interval_got) + " got" + tick + "; " + base::printable(o.engine) +
         ", " + base::printable(o.walker) + "\n";
}

std::string cost_line(const CaptureOutcome& o) {
  const nanoseconds total = o.cost.total();
  std::string line = "cost      " + short_time(total) + " of CPU in the JVM";
  if (o.process_cpu.count() > 0) {
    const double percent = 100.0 * seconds(total) / seconds(o.process_cpu);
    line += " (" + decimal(percent, 2) + " % of its " + short_time(o.process_cpu) + ")";
  }
  return line + ": handler " + short_time(o.cost.handlers) + " (longest " +
         short_time(o.cost.longest_handler) + "), delivery " + short_time(o.cost.delivery) +
         ", thread " + short_time(o.cost.thread_cpu) + "\n";
}

std::string threads_line(const CaptureOutcome& o) {
  std::string line = "threads   " + std::to_string(o.threads);
  if (o.threads_unarmed > 0) {
    line += ", " + std::to_string(o.threads_unarmed) + " could not be armed";
  }
  return line + "; started in " + short_time(o.cost.start) + "\n";
}

std::string hottest_lines(const CaptureOutcome& o) {
  std::string lines;
  for (const MethodShare& method : o.hottest) {
    const std::string percent = decimal(share(method.weight, o.weight), 1);
    lines += std::string(7 - std::min<std::size_t>(percent.size(), 7), ' ') + percent + " %  " +
             base::printable(method.name, kNameBytes) + "\n";
  }
  return lines.empty() ? lines : "hottest methods (self)\n" + lines;
}

Json hottest_json(const std::vector<MethodShare>& hottest) {
  Json list = Json::array();
  for (const MethodShare& method : hottest) {
    list.push_back({{"name", method.name}, {"samples", method.samples}, {"weight", method.weight}});
  }
  return list;
}

Json losses_json(const CaptureOutcome& o) {
  Json list = Json::array();
  for (const profile::Loss& loss : o.losses) {
    list.push_back({{"cause", loss.reason}, {"samples", loss.samples}, {"weight", loss.weight}});
  }
  return list;
}

Json files_json(const CaptureOutcome& o) {
  Json list = Json::array();
  for (const CapturedFile& file : o.files) {
    list.push_back({{"name", file.name},
                    {"format", file.format},
                    {"bytes", file.bytes},
                    {"sha256", file.sha256}});
  }
  return list;
}

} // namespace

std::string summary_text(const CaptureOutcome& outcome) {
  std::string text;
  if (outcome.partial) {
    text += "partial   " + base::printable(outcome.partial_reason) + "\n";
  } else if (outcome.interrupted) {
    text += "stopped   as asked; everything until then is kept\n";
  }
  text += samples_line(outcome) + losses_lines(outcome) + rate_line(outcome) +
          threads_line(outcome) + cost_line(outcome) + hottest_lines(outcome);
  for (const std::string& note : outcome.notes) {
    text += "note      " + base::printable(note, 1024) + "\n";
  }
  return text;
}

Json summary_json(const CaptureOutcome& outcome) {
  const CaptureOutcome& o = outcome;
  const auto start = std::chrono::duration_cast<nanoseconds>(o.start.time_since_epoch()).count();
  Json object = {{"pid", o.pid},
                 {"java", o.java_version},
                 {"agent", o.agent_version},
                 {"event", o.event},
                 {"engine", o.engine},
                 {"walker", o.walker},
                 {"startNanos", start},
                 {"durationNanos", o.duration.count()},
                 {"intervalNanos", o.interval.count()},
                 {"intervalGotNanos", o.interval_got.count()},
                 {"tickNanos", o.tick.count()},
                 {"samples", o.samples},
                 {"errorSamples", o.error_samples},
                 {"weight", o.weight},
                 {"signals", o.signals},
                 {"inFlight", o.in_flight},
                 {"accounted", o.accounted},
                 {"losses", losses_json(o)},
                 {"processCpuNanos", o.process_cpu.count()},
                 {"threads", o.threads},
                 {"threadsUnarmed", o.threads_unarmed}};
  object["cost"] = {{"threadCpuNanos", o.cost.thread_cpu.count()},
                    {"handlerNanos", o.cost.handlers.count()},
                    {"longestHandlerNanos", o.cost.longest_handler.count()},
                    {"deliveryNanos", o.cost.delivery.count()},
                    {"startNanos", o.cost.start.count()}};
  object["hottest"] = hottest_json(o.hottest);
  object["interrupted"] = o.interrupted;
  object["partial"] = o.partial;
  if (o.partial) {
    object["partialReason"] = o.partial_reason;
  }
  object["files"] = files_json(o);
  object["notes"] = o.notes;
  return object;
}

std::string progress_text(const CaptureProgress& progress) {
  switch (progress.phase) {
  case CapturePhase::kFinding:
    return "looking for the JVM";
  case CapturePhase::kAttaching:
    return "attaching";
  case CapturePhase::kSealing:
    return "sealing";
  case CapturePhase::kRendering:
    return "rendering";
  case CapturePhase::kDone:
    return {};
  case CapturePhase::kRecording:
    break;
  }
  std::string text = decimal(seconds(progress.elapsed), 0) + " of " +
                     short_number(seconds(progress.duration)) + " s, " +
                     std::to_string(progress.samples) + " samples";
  if (progress.lost > 0) {
    text += ", " + std::to_string(progress.lost) + " lost";
  }
  if (!progress.hottest.empty()) {
    text += ", hottest " + base::printable(progress.hottest[0].name, 60);
  }
  return text;
}

} // namespace jprof::record
