// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/tree_columns.h"

#include <algorithm>
#include <unordered_map>

namespace jprof::page {
namespace {

using profile::Profile;
using render::CallTree;

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint32_t kKinds = 16;
// How far a callee may rise in its caller's list at once. Bounds the work of hostile trees; the
// reader does the same.
constexpr std::uint32_t kMaxRise = 32;
// Callees that are looked for one by one.
constexpr std::size_t kNear = 16;

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += byte >= 0xf0 ? 2 : (byte & 0xc0) == 0x80 ? 0 : 1;
  }
  return units;
}

// Bytes that two texts begin with alike, whole characters only.
std::size_t shared_prefix(std::string_view a, std::string_view b) {
  std::size_t length = static_cast<std::size_t>(
      std::mismatch(a.begin(),
                    a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
  while (length > 0 && length < b.size() &&
         (static_cast<unsigned char>(b[length]) & 0xc0) == 0x80) {
    --length;
  }
  return length;
}

// Frames of the page are pairs of name and kind, numbered as the tree first meets them.
struct FrameTable {
  std::vector<std::uint32_t> frame_of_node; // node 0 is not used
  std::vector<std::uint32_t> key_of_frame;  // label * kKinds + kind
};

FrameTable number_frames(const Profile& profile, const CallTree& tree) {
  FrameTable table;
  std::vector<std::uint32_t> frame_of_key(profile.string_count() * kKinds, kNone);
  table.frame_of_node.assign(tree.size(), kNone);
  for (std::size_t n = 1; n < tree.size(); ++n) {
    const std::uint32_t key = static_cast<std::uint32_t>(tree.label[n]) * kKinds +
                              static_cast<std::uint32_t>(tree.kind[n]);
    std::uint32_t& frame = frame_of_key[key];
    if (frame == kNone) {
      frame = static_cast<std::uint32_t>(table.key_of_frame.size());
      table.key_of_frame.push_back(key);
    }
    table.frame_of_node[n] = frame;
  }
  return table;
}

// Names in the order of their bytes, each without what it shares with the one before.
std::size_t put_names(Columns& columns, const Profile& profile, const FrameTable& table) {
  std::vector<std::uint32_t> labels;
  for (const std::uint32_t key : table.key_of_frame) {
    labels.push_back(key / kKinds);
  }
  const auto text = [&](std::uint32_t label) { return profile.string(profile::StringId{label}); };
  std::sort(labels.begin(), labels.end(),
            [&](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());

  std::vector<std::uint32_t> place(profile.string_count(), 0);
  std::string prefixes;
  std::vector<std::string_view> rests;
  std::string_view last;
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    place[labels[i]] = i;
    const std::string_view name = text(labels[i]);
    const std::size_t shared = shared_prefix(last, name);
    put_varint(prefixes, utf16_length(name.substr(0, shared)));
    rests.push_back(name.substr(shared));
    last = name;
  }
  columns.put("NPRE", prefixes);
  put_texts(columns, "NLEN", "NAME", rests);

  SplitNumbers names;
  std::string kinds;
  for (const std::uint32_t key : table.key_of_frame) {
    names.put(place[key / kKinds]);
    kinds.push_back(static_cast<char>(key % kKinds));
  }
  columns.put("FNLO", names.low);
  columns.put("FNHI", names.high);
  columns.put("FKIN", kinds);
  return labels.size();
}

bool has_module(profile::FrameKind kind) {
  return kind == profile::FrameKind::kNative || kind == profile::FrameKind::kVm;
}

// The libraries of native frames, by file name. A name that two libraries have counts for the
// first.
std::size_t put_modules(Columns& columns, const Profile& profile, const FrameTable& table) {
  std::vector<std::string_view> modules;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::unordered_map<std::uint32_t, std::uint32_t> module_of_key;
  for (const profile::Frame& frame : profile.frames()) {
    const std::string_view path = profile.string(frame.owner);
    const std::string_view module = path.substr(path.rfind('/') + 1);
    if (!has_module(frame.kind) || module.empty()) {
      continue;
    }
    const auto [entry, added] =
        numbers.emplace(module, static_cast<std::uint32_t>(modules.size() + 1));
    if (added) {
      modules.push_back(module);
    }
    module_of_key.emplace(static_cast<std::uint32_t>(frame.name) * kKinds +
                              static_cast<std::uint32_t>(frame.kind),
                          entry->second);
  }
  if (modules.empty()) {
    return 0;
  }
  std::string places;
  for (const std::uint32_t key : table.key_of_frame) {
    if (has_module(static_cast<profile::FrameKind>(key % kKinds))) {
      const auto found = module_of_key.find(key);
      put_varint(places, found == module_of_key.end() ? 0 : found->second);
    }
  }
  columns.put("FMOD", places);
  put_texts(columns, "MLEN", "MNAM", modules);
  return modules.size();
}

// What each frame was seen to call, most frequent first: a callee is told by its place there.
class CalleeLists {
 public:
  explicit CalleeLists(std::size_t frames) : lists_(frames + 1), slots_(1024, kNone) {}

  // The place of `callee` below `caller` before this call counts, or kNone when it is its first.
  std::uint32_t note(std::uint32_t caller, std::uint32_t callee) {
    std::vector<Entry>& list = lists_[caller];
    const std::uint32_t place = place_of(list, caller, callee);
    if (place == kNone) {
      const auto edge = static_cast<std::uint32_t>(edges_.size());
      add({caller, callee, static_cast<std::uint32_t>(list.size())});
      list.push_back({callee, 1, edge});
      return kNone;
    }
    Entry self = list[place];
    ++self.count;
    std::uint32_t to = place;
    for (; to > 0 && place - to < kMaxRise && list[to - 1].count <= self.count; --to) {
      list[to] = list[to - 1];
      edges_[list[to].edge].place = to;
    }
    list[to] = self;
    if (to != place) {
      edges_[self.edge].place = to;
    }
    return place;
  }

 private:
  struct Entry {
    std::uint32_t callee;
    std::uint32_t count;
    std::uint32_t edge;
  };
  struct Edge {
    std::uint32_t caller;
    std::uint32_t callee;
    std::uint32_t place;
  };

  // Most calls are to what stands first; the table is for long lists.
  std::uint32_t place_of(const std::vector<Entry>& list, std::uint32_t caller,
                         std::uint32_t callee) const {
    const std::size_t near = std::min(list.size(), kNear);
    for (std::uint32_t place = 0; place < near; ++place) {
      if (list[place].callee == callee) {
        return place;
      }
    }
    const std::uint32_t edge = near < list.size() ? find(caller, callee) : kNone;
    return edge == kNone ? kNone : edges_[edge].place;
  }

  std::size_t slot_of(std::uint32_t caller, std::uint32_t callee) const {
    const std::uint64_t key = (std::uint64_t{caller} << 32) | callee;
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 20) & (slots_.size() - 1);
  }

  std::uint32_t find(std::uint32_t caller, std::uint32_t callee) const {
    for (std::size_t s = slot_of(caller, callee); slots_[s] != kNone;
         s = (s + 1) & (slots_.size() - 1)) {
      const Edge& edge = edges_[slots_[s]];
      if (edge.caller == caller && edge.callee == callee) {
        return slots_[s];
      }
    }
    return kNone;
  }

  void add(const Edge& edge) {
    edges_.push_back(edge);
    if (edges_.size() * 2 > slots_.size()) {
      slots_.assign(slots_.size() * 2, kNone);
      for (std::uint32_t e = 0; e < edges_.size(); ++e) {
        enter(e);
      }
    } else {
      enter(static_cast<std::uint32_t>(edges_.size()) - 1);
    }
  }

  void enter(std::uint32_t edge) {
    std::size_t s = slot_of(edges_[edge].caller, edges_[edge].callee);
    while (slots_[s] != kNone) {
      s = (s + 1) & (slots_.size() - 1);
    }
    slots_[s] = edge;
  }

  std::vector<std::vector<Entry>> lists_; // by caller; the last is the root's
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> slots_;
};

void put_frames_of_nodes(Columns& columns, const CallTree& tree, const FrameTable& table) {
  const auto frames = static_cast<std::uint32_t>(table.key_of_frame.size());
  CalleeLists lists(frames);
  std::string ranks;
  SplitNumbers known;
  std::uint32_t met = 0;
  for (std::size_t n = 1; n < tree.size(); ++n) {
    const std::uint32_t above = table.frame_of_node[tree.parent[n]];
    const std::uint32_t frame = table.frame_of_node[n];
    const std::uint32_t place = lists.note(above == kNone ? frames : above, frame);
    if (place != kNone) {
      put_varint(ranks, std::uint64_t{place} + 2);
    } else if (frame == met) {
      put_varint(ranks, 0);
      ++met;
    } else {
      put_varint(ranks, 1);
      known.put(frame);
    }
  }
  columns.put("TRNK", ranks);
  columns.put("TKLO", known.low);
  columns.put("TKHI", known.high);
}

// The tree as its leaves: how many frames lead down to each from where it branches off, and how far
// up the next one begins. Few nodes that are not leaves have samples of their own.
void put_shape(Columns& columns, const CallTree& tree, bool weights) {
  std::string runs, pops, leaf_counts, leaf_weights, gaps, inner_counts, inner_weights;
  std::uint64_t run = 0;
  std::uint64_t gap = 0;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const bool leaf = n > 0 && tree.end[n] == n + 1;
    if (leaf) {
      put_varint(runs, run);
      put_varint(leaf_counts, tree.self_count[n]);
      put_varint(leaf_weights, tree.self_weight[n]);
      run = 0;
      if (n + 1 < tree.size()) {
        std::uint64_t levels = 0;
        for (std::uint32_t up = tree.parent[n]; up != tree.parent[n + 1]; up = tree.parent[up]) {
          ++levels;
        }
        put_varint(pops, levels);
      }
      continue;
    }
    run += n > 0 ? 1 : 0;
    if (tree.self_count[n] == 0 && tree.self_weight[n] == 0) {
      ++gap;
      continue;
    }
    put_varint(gaps, gap);
    put_varint(inner_counts, tree.self_count[n]);
    put_varint(inner_weights, tree.self_weight[n]);
    gap = 0;
  }
  columns.put("TRUN", runs);
  columns.put("TPOP", pops);
  columns.put("TLSF", leaf_counts);
  columns.put("TIGP", gaps);
  columns.put("TISF", inner_counts);
  if (weights) {
    columns.put("TLWT", leaf_weights);
    columns.put("TIWT", inner_weights);
  }
}

} // namespace

void put_texts(Columns& columns, std::string_view lengths_id, std::string_view texts_id,
               const std::vector<std::string_view>& texts) {
  std::string lengths;
  std::string all;
  for (const std::string_view text : texts) {
    put_varint(lengths, utf16_length(text));
    all += text;
  }
  columns.put(lengths_id, lengths);
  columns.put(texts_id, all);
}

TreeSizes put_tree(Columns& columns, const Profile& profile, const CallTree& tree, bool weights) {
  const FrameTable table = number_frames(profile, tree);
  const std::size_t names = put_names(columns, profile, table);
  const std::size_t modules = put_modules(columns, profile, table);
  put_frames_of_nodes(columns, tree, table);
  put_shape(columns, tree, weights);
  return {table.key_of_frame.size(), names, modules};
}

} // namespace jprof::page
