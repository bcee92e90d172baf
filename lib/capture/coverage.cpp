// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/coverage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace jprof::capture {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kWarnPart = 20; // a twentieth: 5 %

struct Row {
  const char* key;
  nanoseconds Coverage::*member;
};
constexpr std::array<Row, 8> kRows{{{"processNs", &Coverage::process},
                                    {"samplesNs", &Coverage::samples},
                                    {"afterLastSampleNs", &Coverage::after_last},
                                    {"notSampledNs", &Coverage::not_sampled},
                                    {"endedUnseenNs", &Coverage::ended_unseen},
                                    {"handlersNs", &Coverage::handlers},
                                    {"agentNs", &Coverage::agent},
                                    {"toleranceNs", &Coverage::tolerance}}};

std::string share_text(nanoseconds part, nanoseconds whole) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f %%",
                100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
  return buffer;
}

nanoseconds magnitude(nanoseconds time) {
  return time < nanoseconds(0) ? -time : time;
}

} // namespace

bool Coverage::complete() const {
  const nanoseconds gap = magnitude(unexplained());
  return !known() || gap <= process / kWarnPart || gap <= tolerance;
}

nanoseconds timer_tolerance(nanoseconds interval, nanoseconds tick, std::uint64_t threads,
                            nanoseconds process) {
  const auto step = static_cast<double>(std::max(interval, tick).count());
  // Two ends a thread, each uniform over a step: the variance of a uniform is a twelfth.
  const double by_ends = static_cast<double>(threads) * step * step / 6;
  const double by_use = step * static_cast<double>(std::max<std::int64_t>(0, process.count()));
  return nanoseconds(std::llround(3 * std::sqrt(std::min(by_ends, by_use))));
}

std::string coverage_text(const Coverage& coverage) {
  if (!coverage.known()) {
    return "what the JVM used is unknown: nothing could report it at the end";
  }
  const nanoseconds missing = coverage.missing();
  std::string text = (coverage.at_least ? "at least " : "") + time_text(coverage.process) +
                     " used by the JVM: " + time_text(coverage.samples) + " in samples (" +
                     time_text(coverage.handlers) + " of it in handlers), ";
  const auto add = [&](nanoseconds part, const char* where) {
    text += part.count() > 0 ? time_text(part) + where : "";
  };
  add(coverage.after_last, " after threads' last samples, ");
  add(coverage.not_sampled, " in threads without a sample, ");
  add(coverage.ended_unseen, " in threads that ended unseen, ");
  return text + time_text(coverage.agent) + " in the agent's thread, " +
         time_text(magnitude(missing)) +
         (coverage.at_least ? "" : " (" + share_text(magnitude(missing), coverage.process) + ")") +
         (missing.count() < 0 ? " too much" : " in none of these");
}

std::string coverage_warning(const Coverage& coverage, const std::string& causes) {
  if (coverage.complete()) {
    return {};
  }
  const nanoseconds missing = coverage.unexplained();
  if (coverage.at_least) {
    return time_text(magnitude(missing)) + " of at least " + time_text(coverage.process) +
           " of CPU time that the JVM used before it ended are in no sample: shares may mislead" +
           (causes.empty() ? "" : "; " + causes);
  }
  std::string text = share_text(magnitude(missing), coverage.process);
  if (missing.count() < 0) {
    return text + " more CPU time is in samples than the JVM has used: shares may mislead";
  }
  text += " of the CPU time that the JVM used (" + time_text(missing) + " of " +
          time_text(coverage.process) + ") is in no sample: shares may mislead";
  return causes.empty() ? text : text + "; " + causes;
}

base::Json coverage_json(const Coverage& coverage) {
  base::Json out = base::Json::object();
  for (const Row& row : kRows) {
    out[row.key] = (coverage.*row.member).count();
  }
  out["processAtLeast"] = coverage.at_least;
  out["missingNs"] = coverage.known() ? coverage.missing().count() : 0;
  out["complete"] = coverage.known() && coverage.complete();
  return out;
}

Coverage coverage_from_json(const base::Json& json) {
  constexpr std::int64_t kMax = std::int64_t{1} << 60; // sums of these do not overflow
  Coverage out;
  for (const Row& row : kRows) {
    out.*row.member = nanoseconds(std::clamp<std::int64_t>(base::json_int(json, row.key), 0, kMax));
  }
  out.at_least = base::json_bool(json, "processAtLeast");
  return out;
}

std::string percent_text(double part, double whole) {
  if (whole <= 0) {
    return "-";
  }
  const double percent = 100 * part / whole;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, percent < 1 && percent > 0 ? "%.2f %%" : "%.1f %%", percent);
  return buffer;
}

std::string time_text(nanoseconds time) {
  struct Scale {
    double ns;
    const char* unit;
  };
  static constexpr Scale kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  const double ns = static_cast<double>(time.count());
  char buffer[48];
  for (const Scale& scale : kScales) {
    if (ns >= scale.ns || scale.ns == 1) {
      const double value = ns / scale.ns;
      const int digits = scale.ns == 1 || value >= 100 ? 0 : (value >= 10 ? 1 : 2);
      std::snprintf(buffer, sizeof buffer, "%.*f %s", digits, value, scale.unit);
      break;
    }
  }
  return buffer;
}

} // namespace jprof::capture
