// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/sample_columns.h"

#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_format.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace jprof::profile {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kPredictByWeight = 1; // flag in the head

constexpr std::uint64_t tag_of(SampleTag tag) {
  return static_cast<std::uint64_t>(tag);
}

std::uint64_t id_of(ThreadId id) {
  return static_cast<std::uint64_t>(id);
}
std::uint64_t id_of(StackId id) {
  return static_cast<std::uint64_t>(id);
}

// How long after the previous time a time is predicted to be, in steps.
std::int64_t predicted_steps(std::uint64_t weight, bool by_weight, nanoseconds step) {
  constexpr std::uint64_t kMaxNanos = std::uint64_t{1} << 62;
  return by_weight ? nanoseconds(static_cast<std::int64_t>(std::min(weight, kMaxNanos))) / step : 0;
}

// Sums of untrusted numbers wrap instead of being undefined.
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// Runs of equal values as (value, length) pairs.
template <typename Value>
std::string encode_runs(std::span<const Sample> samples, Value value) {
  ByteWriter out;
  for (std::size_t at = 0; at < samples.size();) {
    std::size_t end = at + 1;
    while (end < samples.size() && value(samples[end]) == value(samples[at])) {
      ++end;
    }
    out.varint(value(samples[at]));
    out.varint(end - at);
    at = end;
  }
  return out.take();
}

template <typename Store>
bool decode_runs(std::string_view bytes, std::span<Sample> samples, Store store) {
  ByteReader in(bytes);
  std::size_t at = 0;
  while (!in.at_end()) {
    const std::uint64_t value = in.varint();
    const std::uint64_t length = in.varint();
    if (!in.ok() || length == 0 || length > samples.size() - at) {
      return false;
    }
    for (std::uint64_t i = 0; i < length; ++i) {
      store(samples[at++], value);
    }
  }
  return at == samples.size();
}

// Most weights are one of a few values (interval x small number): the unit is their divisor.
std::uint64_t weight_unit(std::span<const Sample> samples) {
  std::uint64_t unit = 0;
  for (const Sample& sample : samples) {
    unit = std::gcd(unit, sample.weight);
  }
  return unit == 0 ? 1 : unit;
}

std::string encode_times(std::span<const Sample> samples, nanoseconds base,
                         const SampleColumnOptions& options) {
  ByteWriter out;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t time = (samples[i].time - base) / options.time_step;
    std::int64_t expected = 0;
    if (i > 0 && samples[i].thread == samples[i - 1].thread) {
      expected = wrapping_add(
          before, predicted_steps(samples[i].weight, options.weight_is_time, options.time_step));
    }
    out.zigzag(wrapping_sub(time, expected));
    before = time;
  }
  return out.take();
}

struct Head {
  std::uint64_t event = 0;
  std::uint64_t count = 0;
  nanoseconds base{0};
  std::uint64_t unit = 1;
  bool by_weight = false;
  nanoseconds step{0};
};

bool decode_times(std::string_view bytes, const Head& head, std::span<Sample> samples) {
  ByteReader in(bytes);
  const std::int64_t most_steps = (std::int64_t{1} << 62) / head.step.count();
  std::int64_t before = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::int64_t time = in.zigzag();
    if (i > 0 && samples[i].thread == samples[i - 1].thread) {
      const std::int64_t step = predicted_steps(samples[i].weight, head.by_weight, head.step);
      time = wrapping_add(time, wrapping_add(before, step));
    }
    before = time;
    if (time > most_steps || time < -most_steps) {
      return false;
    }
    samples[i].time = nanoseconds(wrapping_add(head.base.count(), time * head.step.count()));
  }
  return in.ok() && in.at_end();
}

struct Columns {
  Head head;
  std::map<std::uint64_t, std::string_view> by_tag;
  std::string_view at(SampleTag tag) const {
    const auto found = by_tag.find(tag_of(tag));
    return found == by_tag.end() ? std::string_view{} : found->second;
  }
  bool has(SampleTag tag) const { return by_tag.contains(tag_of(tag)); }
};

bool split_columns(std::string_view bytes, Columns& out) {
  ByteReader in(bytes);
  std::uint64_t tag = 0;
  std::string_view content;
  while (in.field(tag, content)) {
    out.by_tag[tag] = content;
  }
  ByteReader head(out.at(SampleTag::kHead));
  out.head.event = head.varint();
  out.head.count = head.varint();
  out.head.base = nanoseconds(head.zigzag());
  out.head.unit = head.varint();
  out.head.by_weight = (head.varint() & kPredictByWeight) != 0;
  const std::uint64_t step = head.varint();
  constexpr std::uint64_t kMaxStep = 1'000'000'000;
  out.head.step = nanoseconds(static_cast<std::int64_t>(std::min(step, kMaxStep)));
  return in.ok() && head.ok() && step > 0 && out.head.event < kMaxEvents;
}

bool decode_stacks_and_weights(const Columns& columns, std::span<Sample> samples) {
  ByteReader stacks(columns.at(SampleTag::kStacks));
  ByteReader weights(columns.at(SampleTag::kWeights));
  for (Sample& sample : samples) {
    const std::uint64_t stack = stacks.varint();
    if (stack > UINT32_MAX) {
      return false;
    }
    sample.stack = static_cast<StackId>(stack);
    sample.weight = weights.varint() * columns.head.unit;
  }
  return stacks.ok() && stacks.at_end() && weights.ok() && weights.at_end();
}

} // namespace

nanoseconds time_step_for(nanoseconds interval, nanoseconds tick) {
  constexpr nanoseconds kMax{100'000};
  const nanoseconds step = std::clamp(interval / 100, nanoseconds(1000), kMax);
  return step * std::max<std::int64_t>(1, std::min(tick / 100, kMax) / step);
}

std::string encode_samples(std::span<Sample> samples, EventId event,
                           const SampleColumnOptions& options) {
  std::ranges::stable_sort(samples, {},
                           [](const Sample& s) { return std::tuple(s.thread, s.time); });
  // On a grid of whole steps, so that a rewritten recording keeps its times.
  const nanoseconds first = samples.empty() || !options.has_times
                                ? nanoseconds(0)
                                : std::ranges::min(samples, {}, &Sample::time).time;
  const nanoseconds base = first / options.time_step * options.time_step;
  const std::uint64_t unit = weight_unit(samples);
  ByteWriter head;
  head.varint(static_cast<std::uint64_t>(event));
  head.varint(samples.size());
  head.zigzag(base.count());
  head.varint(unit);
  head.varint(options.weight_is_time ? kPredictByWeight : 0);
  head.varint(static_cast<std::uint64_t>(options.time_step.count()));
  ByteWriter stacks;
  ByteWriter weights;
  for (const Sample& sample : samples) {
    stacks.varint(id_of(sample.stack));
    weights.varint(sample.weight / unit);
  }
  ByteWriter out;
  out.field(tag_of(SampleTag::kHead), head.bytes());
  out.field(tag_of(SampleTag::kThreadRuns),
            encode_runs(samples, [](const Sample& s) { return id_of(s.thread); }));
  out.field(tag_of(SampleTag::kWeights), weights.bytes());
  if (options.has_times) {
    out.field(tag_of(SampleTag::kTimes), encode_times(samples, base, options));
  }
  out.field(tag_of(SampleTag::kStacks), stacks.bytes());
  out.field(tag_of(SampleTag::kStates), encode_runs(samples, [](const Sample& s) {
              return static_cast<std::uint64_t>(s.state);
            }));
  if (std::ranges::any_of(samples, [](const Sample& s) { return s.count != 1; })) {
    out.field(tag_of(SampleTag::kCounts),
              encode_runs(samples, [](const Sample& s) { return s.count; }));
  }
  return out.take();
}

bool decode_samples(std::string_view bytes, std::size_t most, SampleBlock& out) {
  Columns columns;
  // Every sample has at least one byte in the stack column, which limits the claim.
  if (!split_columns(bytes, columns) || columns.head.count > most ||
      columns.head.count > columns.at(SampleTag::kStacks).size()) {
    return false;
  }
  std::vector<Sample> block(static_cast<std::size_t>(columns.head.count));
  bool ok = decode_runs(columns.at(SampleTag::kThreadRuns), block,
                        [](Sample& s, std::uint64_t value) {
                          s.thread =
                              static_cast<ThreadId>(std::min<std::uint64_t>(value, UINT32_MAX));
                        }) &&
            decode_stacks_and_weights(columns, block) &&
            decode_runs(columns.at(SampleTag::kStates), block, [](Sample& s, std::uint64_t value) {
              constexpr auto kLast = static_cast<std::uint64_t>(ThreadState::kInNative);
              s.state = value <= kLast ? static_cast<ThreadState>(value) : ThreadState::kUnknown;
            });
  if (ok && columns.has(SampleTag::kTimes)) {
    ok = decode_times(columns.at(SampleTag::kTimes), columns.head, block);
  }
  if (ok && columns.has(SampleTag::kCounts)) {
    ok = decode_runs(columns.at(SampleTag::kCounts), block,
                     [](Sample& s, std::uint64_t value) { s.count = value; });
  }
  if (ok) {
    out = {static_cast<EventId>(columns.head.event), std::move(block)};
  }
  return ok;
}

} // namespace jprof::profile
