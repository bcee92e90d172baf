// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page_data.h"

#include "lib/base/check.h"
#include "lib/base/json.h"
#include "lib/page/columns.h"
#include "lib/page/tree_columns.h"
#include "lib/render/left_out.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace jprof::page {
namespace {

using profile::EventId;
using profile::Profile;
using render::CallTree;

// The weight of one sample if all weigh the same, else 0.
std::uint64_t weight_per_sample(const profile::EventSamples& event) {
  if (event.total_count == 0 || event.total_weight % event.total_count != 0) {
    return 0;
  }
  const std::uint64_t each = event.total_weight / event.total_count;
  const bool same = std::all_of(event.samples.begin(), event.samples.end(),
                                [&](const auto& s) { return s.weight == s.count * each; });
  return same && each > 0 ? each : 0;
}

// Stacks numbered by falling count of samples, then by node: the reader sorts the same way. Rests
// of CPU time have a weight alone.
std::vector<std::uint32_t> rank_nodes(const CallTree& tree) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (tree.self_count[n] > 0 || tree.self_weight[n] > 0) {
      nodes.push_back(n);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return tree.self_count[a] > tree.self_count[b];
  });
  std::vector<std::uint32_t> rank(tree.size(), 0);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    rank[nodes[i]] = i;
  }
  return rank;
}

void put_samples(Columns& columns, const Profile& profile, EventId event, const CallTree& tree,
                 bool weights) {
  const std::vector<std::uint32_t> rank = rank_nodes(tree);
  std::string times;
  std::string stacks;
  std::string threads;
  std::string states;
  std::string counts;
  std::string sums;
  std::uint64_t last = 0;
  bool several = false;
  for (const profile::Sample& sample : profile.event(event).samples) {
    const std::uint64_t tick = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, sample.time.count() / kTickNanoseconds));
    put_varint(times, tick - last);
    last = tick;
    put_varint(stacks, rank[tree.node_of_stack[static_cast<std::size_t>(sample.stack)]]);
    put_varint(threads, static_cast<std::uint32_t>(sample.thread));
    states.push_back(static_cast<char>(sample.state));
    put_varint(counts, sample.count);
    put_varint(sums, sample.weight);
    several = several || sample.count != 1;
  }
  columns.put("STIM", times);
  columns.put("SSTK", stacks);
  if (profile.info().has_threads) {
    columns.put("STHR", threads);
  }
  columns.put("SSTA", states);
  if (several) {
    columns.put("SCNT", counts);
  }
  if (weights) {
    columns.put("SWGT", sums);
  }
}

std::string_view unit_word(profile::Unit unit) {
  switch (unit) {
  case profile::Unit::kNanoseconds:
    return "ns";
  case profile::Unit::kBytes:
    return "bytes";
  case profile::Unit::kSamples:
    return "samples";
  }
  return "samples";
}

std::string fact_of(const Facts& facts, std::string_view label) {
  for (const auto& [name, value] : facts) {
    if (name == label) {
      return value;
    }
  }
  return {};
}

std::int64_t duration_ticks(const Profile& profile, EventId event) {
  std::int64_t last = profile.info().duration.count();
  const std::vector<profile::Sample>& samples = profile.event(event).samples;
  if (profile.info().has_times && !samples.empty()) {
    last = std::max(last, samples.back().time.count() + kTickNanoseconds);
  }
  return last / kTickNanoseconds;
}

// "5.01 s", "10 ms", "12 min 30 s": read by people, so three digits are enough.
std::string duration_label(std::chrono::nanoseconds duration) {
  const std::int64_t ns = duration.count();
  if (ns <= 0) {
    return {};
  }
  constexpr std::int64_t kMinute = 60'000'000'000;
  if (ns >= 2 * kMinute) {
    const std::int64_t seconds = (ns + 500'000'000) / 1'000'000'000;
    const bool hours = seconds >= 7200;
    const std::int64_t large = seconds / (hours ? 3600 : 60);
    const std::int64_t small = hours ? seconds % 3600 / 60 : seconds % 60;
    std::string out = std::to_string(large) + (hours ? " h" : " min");
    return small > 0 ? out + ' ' + std::to_string(small) + (hours ? " min" : " s") : out;
  }
  const auto [unit, word] = ns >= 1'000'000'000 ? std::pair(1e9, " s")
                            : ns >= 1'000'000   ? std::pair(1e6, " ms")
                            : ns >= 1'000       ? std::pair(1e3, " µs")
                                                : std::pair(1.0, " ns");
  std::array<char, 32> digits{};
  (void)std::snprintf(digits.data(), digits.size(), "%.3g", static_cast<double>(ns) / unit);
  if (std::string_view(digits.data()).find('e') != std::string_view::npos) {
    (void)std::snprintf(digits.data(), digits.size(), "%.0f", static_cast<double>(ns) / unit);
  }
  return digits.data() + std::string(word);
}

base::Json describe_gaps(const std::vector<profile::Gap>& gaps) {
  base::Json list = base::Json::array();
  for (const profile::Gap& gap : gaps) {
    base::Json entry = base::Json::object();
    entry["from"] = gap.from.count() / kTickNanoseconds;
    entry["to"] =
        std::max(gap.from.count() / kTickNanoseconds + 1, gap.to.count() / kTickNanoseconds);
    entry["lost"] = gap.samples;
    entry["reason"] = gap.reason;
    list.push_back(std::move(entry));
  }
  return list;
}

base::Json describe_info(const Profile& profile, EventId event, const std::string& title) {
  const profile::ProfileInfo& info = profile.info();
  const profile::EventInfo& of = profile.event_info(event);
  base::Json meta = base::Json::object();
  meta["title"] = title;
  meta["event"] = of.name;
  meta["unit"] = unit_word(of.unit);
  if (of.interval.count() > 0) {
    meta["interval"] = duration_label(of.interval);
  }
  if (info.duration.count() > 0) {
    meta["duration"] = duration_label(info.duration);
    meta["durationS"] = std::chrono::duration<double>(info.duration).count();
  }
  const auto start =
      std::chrono::duration_cast<std::chrono::milliseconds>(info.start.time_since_epoch());
  if (start.count() > 0) {
    meta["startMs"] = start.count();
  }
  std::uint64_t lost = 0;
  for (const profile::Loss& loss : of.losses) {
    lost += loss.samples;
  }
  if (lost > 0) {
    meta["lost"] = lost;
  }
  if (info.has_times && !of.gaps.empty()) {
    meta["gaps"] = describe_gaps(of.gaps);
  }
  if (info.partial) {
    meta["partial"] = info.partial_reason.empty() ? "no reason known" : info.partial_reason;
  }
  const Facts facts = describe_capture(profile, event);
  for (const std::string_view label : {"JVM", "host"}) {
    if (std::string value = fact_of(facts, label); !value.empty()) {
      meta[label == "JVM" ? "jvm" : "host"] = std::move(value);
    }
  }
  base::Json list = base::Json::array();
  base::Json warnings = base::Json::array();
  for (const auto& [label, value] : facts) {
    list.push_back(base::Json::array({label, value}));
    if (label == profile::kWarningFact) {
      warnings.push_back(value);
    }
  }
  meta["facts"] = std::move(list);
  if (!warnings.empty()) {
    meta["warnings"] = std::move(warnings);
  }
  return meta;
}

std::string with_header(const Columns::Packed& packed) {
  std::string out(kMagic);
  for (const std::uint8_t byte : {kFormatMajor, kFormatMinor, kDeflateRaw, std::uint8_t{0}}) {
    out.push_back(static_cast<char>(byte));
  }
  put_u32(out, packed.raw_size);
  put_u32(out, packed.bytes.size());
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(packed.bytes.data()), packed.bytes.size());
  put_u32(out, crc);
  JPROF_CHECK(out.size() == kHeaderBytes);
  out += packed.bytes;
  return out;
}

} // namespace

Facts describe_capture(const Profile& profile, EventId event) {
  const profile::ProfileInfo& info = profile.info();
  const profile::EventInfo& of = profile.event_info(event);
  Facts facts;
  const auto add = [&](std::string label, std::string value) {
    if (!value.empty()) {
      facts.emplace_back(std::move(label), std::move(value));
    }
  };
  add("event", of.name);
  add("engine", of.engine);
  add("stack walker", of.walker);
  add("interval asked", duration_label(of.interval));
  add("interval got", duration_label(of.interval_got));
  add("duration", duration_label(info.duration));
  add("samples", std::to_string(profile.event(event).total_count));
  add(std::string(render::kOtherEvents), render::other_events(profile, event));
  for (const profile::Loss& loss : of.losses) {
    add("lost: " + loss.reason, std::to_string(loss.samples));
  }
  if (info.partial) {
    add("ended early", info.partial_reason.empty() ? "no reason known" : info.partial_reason);
  }
  for (const auto& [label, value] : info.facts) {
    add(label, value);
  }
  return facts;
}

std::string encode_page_data(const Profile& profile, EventId event, const CallTree& tree,
                             const std::string& title) {
  const profile::EventSamples& of = profile.event(event);
  const std::uint64_t each = weight_per_sample(of);
  const bool weights = each == 0 && of.total_weight > 0;
  const bool timed = profile.info().has_times && !of.samples.empty();

  Columns columns;
  const TreeSizes sizes = put_tree(columns, profile, tree, weights);
  base::Json meta = describe_info(profile, event, title);
  meta["nodes"] = tree.size() - 1;
  meta["frames"] = sizes.frames;
  meta["names"] = sizes.names;
  if (sizes.modules > 0) {
    meta["modules"] = sizes.modules;
  }
  meta["perSample"] = weights ? 0 : std::max<std::uint64_t>(each, 1);
  meta["tickNs"] = kTickNanoseconds;
  meta["durationTicks"] = duration_ticks(profile, event);
  meta["timed"] = timed ? of.samples.size() : 0;
  const bool threads = timed && profile.info().has_threads;
  meta["threads"] = threads ? profile.threads().size() : 0;

  columns.put("META", base::dump_json(meta));
  if (threads) {
    std::vector<std::string_view> names;
    for (const profile::Thread& thread : profile.threads()) {
      names.push_back(profile.string(thread.name));
    }
    put_texts(columns, "HLEN", "HNAM", names);
  }
  if (timed) {
    put_samples(columns, profile, event, tree, weights);
  }
  return with_header(std::move(columns).pack());
}

} // namespace jprof::page
