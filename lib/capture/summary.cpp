// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/summary.h"

#include "lib/base/encoding.h"
#include "lib/capture/old_code.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace jprof::capture {
namespace {

constexpr std::size_t kMaxNameLength = 160;
constexpr std::string_view kTruncated = "[truncated]"; // sidecar/record/frame_namer.cpp

// "12,345"
std::string grouped(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

std::string line(std::string_view label, const std::string& text) {
  std::string out = "  ";
  out += label;
  out.append(label.size() < 9 ? 10 - label.size() : 1, ' ');
  return out + text + "\n";
}

// " ([truncated] 11,234, 91.0 %: deeper than 2,048 frames; [broken_stack] 12, 0.10 %)"
std::string reasons_text(const Measured& measured) {
  std::string out;
  for (const Measured::ErrorReason& reason : measured.error_reasons) {
    out += (out.empty() ? " (" : "; ") + base::printable(reason.frame) + " " +
           grouped(reason.samples) + ", " +
           percent_text(static_cast<double>(reason.samples), static_cast<double>(measured.samples));
    if (reason.frame == kTruncated) {
      out += ": deeper than " +
             (measured.max_depth > 0 ? grouped(measured.max_depth) + " frames" : "what is kept") +
             ", of which the outermost are cut off";
    }
  }
  return out.empty() ? out : out + ")";
}

std::string samples_line(const Measured& measured) {
  std::string out = grouped(measured.samples) + " in " + time_text(measured.duration) + ", " +
                    grouped(measured.threads) + " threads";
  if (measured.error_samples > 0) {
    out +=
        "; " + grouped(measured.error_samples) + " without a whole stack" + reasons_text(measured);
  }
  if (measured.threads_unarmed > 0) {
    out += "; " + grouped(measured.threads_unarmed) + " more never had a timer";
  }
  return line("samples", out);
}

std::string lost_line(const Measured& measured) {
  if (measured.salvaged) {
    return line("lost", "unknown, since the recorder was killed: at least what came after the "
                        "last sample");
  }
  std::string out = grouped(measured.lost());
  std::string causes;
  for (const Measured::Loss& loss : measured.losses) {
    if (loss.samples > 0) {
      causes +=
          (causes.empty() ? "" : ", ") + base::printable(loss.reason) + " " + grouped(loss.samples);
    }
  }
  out += causes.empty() ? "" : " (" + causes + ")";
  if (!measured.accounted) {
    out += "; the counters do not add up";
  }
  return line("lost", out);
}

// Known, and no more than the agent itself can have used.
bool nothing_ran(const Measured& measured) {
  return measured.coverage.known() &&
         measured.coverage.unexplained() <= std::chrono::milliseconds(1);
}

std::string rate_line(const Measured& measured) {
  const std::string got = measured.interval_got.count() > 0
                              ? time_text(measured.interval_got) + " got"
                          : measured.salvaged     ? "what was got is not known"
                          : measured.samples > 0  ? "too few samples to say what was got"
                          : nothing_ran(measured) ? "no sample got, since nothing ran"
                                                  : "no sample got";
  const std::string tick =
      measured.tick > measured.interval
          ? " (the kernel looks at its timers every " + time_text(measured.tick) + ")"
          : "";
  return line("rate", base::printable(measured.event) + " every " + time_text(measured.interval) +
                          " asked, " + got + tick + "; engine " + base::printable(measured.engine) +
                          ", walker " + base::printable(measured.walker));
}

std::string cost_line(const Measured& measured) {
  const auto cost = static_cast<double>(measured.cost.total.count());
  const std::string share =
      measured.coverage.at_least
          ? ""
          : ", " + percent_text(cost, static_cast<double>(measured.process_cpu.count())) +
                " of what it used";
  return line("cost", time_text(measured.cost.total) + " CPU in the JVM" + share +
                          "; longest handler " +
                          (measured.cost.longest_handler.count() == 0 && measured.signals > 0
                               ? "not measured"
                               : time_text(measured.cost.longest_handler)));
}

struct Range {
  double low = 0;
  double high = 0;
};

// Where the true share lies in 95 of 100 captures that found `share` by so many samples: Wilson's
// score interval (E. B. Wilson, 1927). For samples that know nothing of each other: work in step
// with the timer can be further off.
Range range_of(double share, double samples) {
  constexpr double kDeviations = 1.96;
  const double square = kDeviations * kDeviations / samples;
  const double middle = share + square / 2;
  const double reach = std::sqrt(square * (share * (1 - share) + square / 4));
  return {std::max(0.0, (middle - reach) / (1 + square)),
          std::min(1.0, (middle + reach) / (1 + square))};
}

// The ranges of fewer are so wide that they say next to nothing.
constexpr std::uint64_t kEnoughSamples = 10;

std::string hottest_lines(const Measured& measured) {
  std::string out;
  const double whole = static_cast<double>(measured.weight_ns);
  for (const Measured::Method& method : measured.hottest) {
    if (measured.samples == 0 || measured.weight_ns == 0) {
      break;
    }
    const double share = std::min(1.0, static_cast<double>(method.weight_ns) / whole);
    const Range range = range_of(share, static_cast<double>(measured.samples));
    char text[64];
    std::snprintf(text, sizeof text, "  %5.1f %% (%.1f to %.1f)  ", 100 * share, 100 * range.low,
                  100 * range.high);
    out += text + base::printable(method.name, kMaxNameLength) + "\n";
  }
  const std::string few =
      measured.samples < kEnoughSamples
          ? ": " + grouped(measured.samples) +
                (measured.samples == 1 ? " sample is" : " samples are") +
                " too few to say; a longer --duration or a shorter --interval takes more"
          : "";
  return out.empty() ? out : "hottest methods (self, with the 95 % range)" + few + "\n" + out;
}

} // namespace

std::string summary_text(const Measured& measured, Detail detail) {
  std::string out;
  for (const std::string& warning : measured.warnings) {
    out += line("WARNING", base::printable(warning, 500));
  }
  if (!measured.java_version.empty()) {
    out += line("jvm",
                base::printable(measured.java_version) + ", pid " + std::to_string(measured.pid));
  }
  if (measured.interrupted) {
    out += line("stopped", "as asked; everything until then is kept");
  }
  out += samples_line(measured) + lost_line(measured);
  out += line("cpu time", coverage_text(measured.coverage));
  if (const std::string old = old_code_text(measured.old_code, measured.coverage.samples);
      !old.empty()) {
    out += line("old code", old);
  }
  out += rate_line(measured);
  out += measured.salvaged ? line("cost", "not known") : cost_line(measured);
  for (const std::string& residue : measured.residue) {
    out += line("stays", base::printable(residue, 500));
  }
  for (const std::string& note : measured.notes) {
    out += line("note", base::printable(note, 500));
  }
  if (detail == Detail::kFull) {
    for (const std::string& skipped : measured.skipped) {
      out += line("skipped", base::printable(skipped, 500));
    }
  }
  for (const std::string& error : measured.file_errors) {
    out += line("missing", base::printable(error, 500));
  }
  return out + hottest_lines(measured);
}

} // namespace jprof::capture
