// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/speedscope_reader.h"

#include "lib/base/json.h"
#include "lib/profile/profile_builder.h"
#include "lib/render/exact_counts.h"
#include "lib/render/left_out.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace jprof::render {
namespace {

using base::Json;

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

base::Status bad(const std::string& what) {
  return base::make_failure(base::ErrorCode::kInvalidData, what);
}

// How many of our units one of a profile's units is; 0 for counts.
double unit_factor(std::string_view unit) {
  return unit == "seconds"        ? 1e9
         : unit == "milliseconds" ? 1e6
         : unit == "microseconds" ? 1e3
         : unit == "nanoseconds"  ? 1
         : unit == "bytes"        ? 1
                                  : 0;
}

class SpeedscopeIntake {
 public:
  explicit SpeedscopeIntake(std::string_view title) {
    builder_.info().title = std::string(title);
    builder_.info().has_threads = true;
  }

  base::Result<profile::Profile> read(const Json& file) {
    for (const Json& frame : base::json_array(base::json_object(file, "shared"), "frames")) {
      frames_.push_back(builder_.intern_frame(
          {.name = builder_.intern_string(base::json_string(frame, "name", "[unnamed]")),
           .owner = builder_.intern_string(base::json_string(frame, "file")),
           .line = static_cast<std::int32_t>(base::json_int(frame, "line"))}));
    }
    const Json& profiles = base::json_array(file, "profiles");
    if (frames_.empty() || profiles.empty()) {
      JPROF_TRY(bad("speedscope's JSON has no frames or no profiles"));
    }
    unit_ = base::json_string(profiles.front(), "unit");
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      if (base::Status status = read_profile(profiles[i]); !status) {
        return base::fail(
            std::move(status).error().with_context("profile " + std::to_string(i + 1)));
      }
    }
    return finish();
  }

 private:
  base::Status read_profile(const Json& one) {
    if (base::json_string(one, "unit") != unit_) {
      ++other_units_;
      return {};
    }
    thread_ = builder_.add_thread({.name = builder_.intern_string(base::json_string(one, "name"))});
    const std::string type = base::json_string(one, "type");
    if (type == "sampled") {
      return read_sampled(one);
    }
    return type == "evented" ? read_evented(one)
                             : bad("its type '" + type + "' is neither sampled nor evented");
  }

  base::Status read_sampled(const Json& one) {
    const Json& samples = base::json_array(one, "samples");
    const Json& weights = base::json_array(one, "weights");
    if (one.contains("weights") && weights.size() != samples.size()) {
      return bad("it has " + std::to_string(samples.size()) + " samples and " +
                 std::to_string(weights.size()) + " weights");
    }
    double at = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].is_array()) {
        return bad("sample " + std::to_string(i + 1) + " is not a list of frames");
      }
      stack_.clear();
      for (const Json& index : samples[i]) {
        JPROF_TRY(push(index, "sample", i));
      }
      double weight = 1;
      if (i < weights.size() && weights[i].is_number()) {
        weight = weights[i].get<double>();
      }
      add(at, weight);
      at += weight;
    }
    return {};
  }

  base::Status read_evented(const Json& one) {
    stack_.clear();
    double last = 0;
    bool first = true;
    std::size_t number = 0;
    for (const Json& event : base::json_array(one, "events")) {
      ++number;
      const auto at = event.is_object() ? event.find("at") : event.end();
      if (!event.is_object() || at == event.end() || !at->is_number()) {
        return bad("event " + std::to_string(number) + " has no time");
      }
      const double now = at->get<double>();
      if (!first && !stack_.empty()) {
        add(last, now - last);
      }
      first = false;
      last = now;
      if (base::json_string(event, "type") == "O") {
        JPROF_TRY(push(event.contains("frame") ? event["frame"] : Json(), "event", number - 1));
      } else if (!stack_.empty()) {
        stack_.pop_back();
      }
    }
    return {};
  }

  base::Status push(const Json& index, const char* what, std::size_t at) {
    if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= frames_.size()) {
      return bad(std::string(what) + " " + std::to_string(at + 1) +
                 " has a frame that is not in the list of " + std::to_string(frames_.size()));
    }
    stack_.push_back(frames_[index.get<std::size_t>()]);
    return {};
  }

  void add(double at, double weight) {
    ++values_;
    const double factor = std::max(unit_factor(unit_), 1.0);
    const double scaled = weight * factor;
    // What has no weight is skipped: two events at the same time, or a sample of weight 0.
    if (scaled == 0) {
      return;
    }
    // A value begins at its time; a sample stands for what was before it.
    const double end = at * factor + scaled;
    if (!(scaled > 0 && scaled < kMaxCount && end < kMaxCount)) {
      ignored_.note(values_, scaled < 0 ? "it is below 0" : "it is not a number below 9e15");
      return;
    }
    const bool timed = unit_.ends_with("seconds");
    samples_.push_back(
        {.time = std::chrono::nanoseconds(timed ? std::llround(std::max(0.0, end)) : 0),
         .thread = thread_,
         .stack = builder_.intern_stack(stack_)});
    weights_.push_back(scaled);
    sum_ += scaled;
  }

  // Nobody misses fractions of nanoseconds and bytes; counts are made whole together.
  void add_samples(bool counts) {
    const std::uint64_t factor = counts ? factor_to_whole(weights_) : 1;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      profile::Sample& sample = samples_[i];
      sample.weight =
          static_cast<std::uint64_t>(std::llround(weights_[i] * static_cast<double>(factor)));
      sample.count = counts ? sample.weight : 1;
      if (sample.weight > 0) {
        builder_.add_sample(sample);
      } else {
        ignored_.note(i + 1, "it is too small");
      }
    }
    if (factor > 1) {
      builder_.info().facts.emplace_back(
          "counts", std::to_string(factor) + " times those in the text, which have decimals");
    }
  }

  base::Result<profile::Profile> finish() {
    if (sum_ > kMaxCount) {
      return base::make_failure(base::ErrorCode::kLimit, "the weights add up to more than 9e15");
    }
    profile::ProfileInfo& info = builder_.info();
    info.has_times = unit_.ends_with("seconds");
    info.events.front().name = unit_ == "bytes" ? "alloc" : "";
    info.events.front().unit = info.has_times     ? profile::Unit::kNanoseconds
                               : unit_ == "bytes" ? profile::Unit::kBytes
                                                  : profile::Unit::kSamples;
    info.facts.emplace_back("source", "speedscope");
    add_samples(unit_factor(unit_) == 0);
    if (other_units_ > 0) {
      info.facts.emplace_back(kOtherUnits, std::to_string(other_units_));
    }
    if (ignored_.count() > 0) {
      info.facts.emplace_back(kIgnoredValues, ignored_.text("value"));
    }
    return builder_.build();
  }

  profile::ProfileBuilder builder_;
  std::vector<profile::FrameId> frames_;
  std::vector<profile::FrameId> stack_;
  profile::ThreadId thread_{};
  std::string unit_;
  std::vector<profile::Sample> samples_; // their weights are computed from `weights_` at the end
  std::vector<double> weights_;
  double sum_ = 0;
  std::uint64_t values_ = 0;
  LeftOut ignored_;
  std::uint64_t other_units_ = 0;
};

} // namespace

bool looks_like_speedscope(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"shared\"") != std::string_view::npos &&
         text.find("\"profiles\"") != std::string_view::npos;
}

base::Result<profile::Profile> read_speedscope(std::string_view text, std::string_view title) {
  JPROF_TRY_ASSIGN(const Json file, base::parse_json(text, {.bytes = kMaxTextBytes, .depth = 16}));
  return SpeedscopeIntake(title).read(file);
}

} // namespace jprof::render
