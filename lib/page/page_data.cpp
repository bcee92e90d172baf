// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page_data.h"

#include "lib/base/check.h"
#include "lib/base/duration.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace jprof::page {
namespace {

using profile::Profile;
using render::CallTree;

void put_u32(std::string& out, std::uint64_t value) {
  JPROF_CHECK(value <= 0xffffffffU);
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

void put_column(std::string& raw, std::string_view id, std::string_view bytes) {
  JPROF_CHECK(id.size() == 4);
  raw += id;
  put_u32(raw, bytes.size());
  raw += bytes;
}

// Lengths are in UTF-16 units: what a browser cuts strings by.
std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += byte >= 0xf0 ? 2 : (byte & 0xc0) == 0x80 ? 0 : 1;
  }
  return units;
}

void put_texts(std::string& raw, std::string_view lengths_id, std::string_view texts_id,
               const std::vector<std::string_view>& texts) {
  std::string lengths;
  std::string all;
  for (const std::string_view text : texts) {
    put_varint(lengths, utf16_length(text));
    all += text;
  }
  put_column(raw, lengths_id, lengths);
  put_column(raw, texts_id, all);
}

// Frames of the page are pairs of name and kind, numbered by how many nodes have them: the most
// frequent get the shortest numbers.
struct FrameTable {
  std::vector<std::uint32_t> frame_of_node; // node 1 is [0]
  std::vector<std::uint32_t> name_of_frame;
  std::string kinds;
  std::vector<std::string_view> names;
};

std::vector<std::uint32_t> by_frequency(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  return order;
}

FrameTable number_frames(const Profile& profile, const CallTree& tree) {
  constexpr std::uint32_t kKinds = 16;
  const auto key_of = [&](std::size_t node) {
    return static_cast<std::uint32_t>(tree.label[node]) * kKinds +
           static_cast<std::uint32_t>(tree.kind[node]);
  };
  std::vector<std::uint32_t> counts(profile.string_count() * kKinds, 0);
  for (std::size_t n = 1; n < tree.size(); ++n) {
    ++counts[key_of(n)];
  }
  FrameTable table;
  std::vector<std::uint32_t> frame_of_key(counts.size(), 0);
  std::vector<std::uint32_t> name_of_label(profile.string_count(), 0xffffffff);
  for (const std::uint32_t key : by_frequency(counts)) {
    frame_of_key[key] = static_cast<std::uint32_t>(table.name_of_frame.size());
    std::uint32_t& name = name_of_label[key / kKinds];
    if (name == 0xffffffff) {
      name = static_cast<std::uint32_t>(table.names.size());
      table.names.push_back(profile.string(profile::StringId{key / kKinds}));
    }
    table.name_of_frame.push_back(name);
    table.kinds.push_back(static_cast<char>(key % kKinds));
  }
  table.frame_of_node.reserve(tree.size() - 1);
  for (std::size_t n = 1; n < tree.size(); ++n) {
    table.frame_of_node.push_back(frame_of_key[key_of(n)]);
  }
  return table;
}

// The weight of one sample if all weigh the same, else 0.
std::uint64_t weight_per_sample(const Profile& profile) {
  if (profile.total_count() == 0 || profile.total_weight() % profile.total_count() != 0) {
    return 0;
  }
  const std::uint64_t each = profile.total_weight() / profile.total_count();
  const bool same = std::all_of(profile.samples().begin(), profile.samples().end(),
                                [&](const auto& s) { return s.weight == s.count * each; });
  return same && each > 0 ? each : 0;
}

void put_tree(std::string& raw, const CallTree& tree, const FrameTable& frames, bool weights) {
  std::string pops;
  std::string ids;
  std::string counts;
  std::string sums;
  put_varint(counts, tree.self_count[0]);
  put_varint(sums, tree.self_weight[0]);
  std::uint32_t last = 0;
  for (std::uint32_t n = 1; n < tree.size(); ++n) {
    std::uint64_t levels = 0;
    for (; last != tree.parent[n]; last = tree.parent[last]) {
      ++levels;
    }
    last = n;
    put_varint(pops, levels);
    put_varint(ids, frames.frame_of_node[n - 1]);
    put_varint(counts, tree.self_count[n]);
    if (weights) {
      put_varint(sums, tree.self_weight[n]);
    }
  }
  put_column(raw, "TFRM", ids);
  put_column(raw, "TPOP", pops);
  put_column(raw, "TSLF", counts);
  if (weights) {
    put_column(raw, "TWGT", sums);
  }
}

// Stacks numbered by falling count of samples, then by node: the reader sorts the same way.
std::vector<std::uint32_t> rank_nodes(const CallTree& tree) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (tree.self_count[n] > 0) {
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

void put_samples(std::string& raw, const Profile& profile, const CallTree& tree, bool weights) {
  const std::vector<std::uint32_t> rank = rank_nodes(tree);
  std::string times;
  std::string stacks;
  std::string threads;
  std::string states;
  std::string counts;
  std::string sums;
  std::uint64_t last = 0;
  bool several = false;
  for (const profile::Sample& sample : profile.samples()) {
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
  put_column(raw, "STIM", times);
  put_column(raw, "SSTK", stacks);
  if (profile.info().has_threads) {
    put_column(raw, "STHR", threads);
  }
  put_column(raw, "SSTA", states);
  if (several) {
    put_column(raw, "SCNT", counts);
  }
  if (weights) {
    put_column(raw, "SWGT", sums);
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

std::int64_t duration_ticks(const Profile& profile) {
  std::int64_t last = profile.info().duration.count();
  if (profile.info().has_times && !profile.samples().empty()) {
    last = std::max(last, profile.samples().back().time.count() + kTickNanoseconds);
  }
  return last / kTickNanoseconds;
}

base::Json describe_info(const Profile& profile, const std::string& title) {
  const profile::ProfileInfo& info = profile.info();
  base::Json meta = base::Json::object();
  meta["title"] = title;
  meta["event"] = info.event;
  meta["unit"] = unit_word(info.unit);
  if (info.interval.count() > 0) {
    meta["interval"] = base::format_duration(info.interval);
  }
  if (info.duration.count() > 0) {
    meta["duration"] = base::format_duration(info.duration);
    meta["durationS"] = std::chrono::duration<double>(info.duration).count();
  }
  const auto start =
      std::chrono::duration_cast<std::chrono::milliseconds>(info.start.time_since_epoch());
  if (start.count() > 0) {
    meta["startMs"] = start.count();
  }
  std::uint64_t lost = 0;
  for (const profile::Loss& loss : info.losses) {
    lost += loss.samples;
  }
  if (lost > 0) {
    meta["lost"] = lost;
  }
  if (info.partial) {
    meta["partial"] = info.partial_reason.empty() ? "no reason known" : info.partial_reason;
  }
  const Facts facts = describe_capture(profile);
  for (const std::string_view label : {"JVM", "host"}) {
    if (std::string value = fact_of(facts, label); !value.empty()) {
      meta[label == "JVM" ? "jvm" : "host"] = std::move(value);
    }
  }
  base::Json list = base::Json::array();
  for (const auto& [label, value] : facts) {
    list.push_back(base::Json::array({label, value}));
  }
  meta["facts"] = std::move(list);
  return meta;
}

std::string deflate_raw(std::string_view raw) {
  z_stream stream{};
  // Level 9 costs 7 times level 6 for 3 % of size: only where that is nothing.
  const int level = raw.size() < 400'000 ? 9 : 6;
  JPROF_CHECK(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(raw.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  JPROF_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string with_header(std::string_view raw, std::string_view packed) {
  std::string out(kMagic);
  for (const std::uint8_t byte : {kFormatMajor, kFormatMinor, kDeflateRaw, std::uint8_t{0}}) {
    out.push_back(static_cast<char>(byte));
  }
  put_u32(out, raw.size());
  put_u32(out, packed.size());
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  put_u32(out, crc);
  JPROF_CHECK(out.size() == kHeaderBytes);
  out += packed;
  return out;
}

} // namespace

Facts describe_capture(const Profile& profile) {
  const profile::ProfileInfo& info = profile.info();
  Facts facts;
  const auto add = [&](std::string label, std::string value) {
    if (!value.empty()) {
      facts.emplace_back(std::move(label), std::move(value));
    }
  };
  const auto duration = [](std::chrono::nanoseconds d) {
    return d.count() > 0 ? base::format_duration(d) : std::string();
  };
  add("event", info.event);
  add("engine", info.engine);
  add("stack walker", info.walker);
  add("interval asked", duration(info.interval));
  add("interval got", duration(info.interval_got));
  add("duration", duration(info.duration));
  add("samples", std::to_string(profile.total_count()));
  for (const profile::Loss& loss : info.losses) {
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

std::string encode_page_data(const Profile& profile, const CallTree& tree,
                             const std::string& title) {
  const FrameTable frames = number_frames(profile, tree);
  const std::uint64_t each = weight_per_sample(profile);
  const bool weights = each == 0 && profile.total_count() > 0;
  const bool timed = profile.info().has_times && !profile.samples().empty();

  base::Json meta = describe_info(profile, title);
  meta["nodes"] = tree.size() - 1;
  meta["frames"] = frames.name_of_frame.size();
  meta["names"] = frames.names.size();
  meta["perSample"] = weights ? 0 : std::max<std::uint64_t>(each, 1);
  meta["tickNs"] = kTickNanoseconds;
  meta["durationTicks"] = duration_ticks(profile);
  meta["timed"] = timed ? profile.samples().size() : 0;
  const bool threads = timed && profile.info().has_threads;
  meta["threads"] = threads ? profile.threads().size() : 0;

  std::string raw;
  put_column(raw, "META", base::dump_json(meta));
  put_texts(raw, "NLEN", "NAME", frames.names);
  std::string names_of_frames;
  for (const std::uint32_t name : frames.name_of_frame) {
    put_varint(names_of_frames, name);
  }
  put_column(raw, "FNAM", names_of_frames);
  put_column(raw, "FKIN", frames.kinds);
  put_tree(raw, tree, frames, weights);
  if (threads) {
    std::vector<std::string_view> names;
    for (const profile::Thread& thread : profile.threads()) {
      names.push_back(profile.string(thread.name));
    }
    put_texts(raw, "HLEN", "HNAM", names);
  }
  if (timed) {
    put_samples(raw, profile, tree, weights);
  }
  return with_header(raw, deflate_raw(raw));
}

} // namespace jprof::page
