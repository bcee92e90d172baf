// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/call_tree.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace jprof::render {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kMinSlots = 1024;
// A node's first children are in a list, which costs nothing for what most nodes lack; the rest are
// in a table, so that a node with many children is no slower.
constexpr int kListedChildren = 8;

// Nodes in the order in which stacks first reach them. Kinds are settled by a weighted majority
// vote, which needs no table per node.
class Sprout {
 public:
  // `nodes`: at least as many as there will be. Unused capacity costs nothing; growing would cost
  // all of it twice.
  explicit Sprout(std::size_t nodes) : table_(kMinSlots, kNone) {
    parent_.reserve(nodes);
    label_.reserve(nodes);
    kind_.reserve(nodes);
    margin_.reserve(nodes);
    links_.reserve(nodes);
    add(kNone, profile::kNoString);
  }

  std::uint32_t child(std::uint32_t parent, profile::StringId label) {
    std::uint32_t last = kNone;
    int passed = 0;
    for (std::uint32_t node = links_[parent].first; node != kNone; node = links_[node].next) {
      if (label_[node] == label) {
        return node;
      }
      last = node;
      ++passed;
    }
    if (passed == kListedChildren) {
      return later_child(parent, label);
    }
    (last == kNone ? links_[parent].first : links_[last].next) = size();
    return add(parent, label);
  }

  void vote(std::uint32_t node, profile::FrameKind kind, std::uint64_t weight) {
    if (kind_[node] == kind) {
      margin_[node] += weight;
    } else if (margin_[node] >= weight) {
      margin_[node] -= weight;
    } else {
      margin_[node] = weight - margin_[node];
      kind_[node] = kind;
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(parent_.size()); }
  const std::vector<std::uint32_t>& parent() const { return parent_; }
  // What is no longer needed is freed at once: large captures need many times this.
  void drop_index() {
    std::vector<std::uint32_t>().swap(table_);
    std::vector<Links>().swap(links_);
    std::vector<std::uint64_t>().swap(margin_);
  }
  std::vector<std::uint32_t> take_parent() { return std::move(parent_); }
  std::vector<profile::StringId> take_label() { return std::move(label_); }
  std::vector<profile::FrameKind> take_kind() { return std::move(kind_); }

 private:
  struct Links {
    std::uint32_t first; // child
    std::uint32_t next;  // sibling
  };

  std::uint32_t add(std::uint32_t parent, profile::StringId label) {
    parent_.push_back(parent);
    label_.push_back(label);
    kind_.push_back(profile::FrameKind::kUnknown);
    margin_.push_back(0);
    links_.push_back({kNone, kNone});
    return size() - 1;
  }

  // Open addressing over (parent, label).
  std::uint32_t later_child(std::uint32_t parent, profile::StringId label) {
    std::size_t slot = slot_of(parent, label);
    for (; table_[slot] != kNone; slot = (slot + 1) & (table_.size() - 1)) {
      const std::uint32_t node = table_[slot];
      if (parent_[node] == parent && label_[node] == label) {
        return node;
      }
    }
    const std::uint32_t made = add(parent, label);
    table_[slot] = made;
    if (++in_table_ > table_.size() / 4 * 3) {
      grow_table();
    }
    return made;
  }

  std::size_t slot_of(std::uint32_t parent, profile::StringId label) const {
    std::uint64_t h = (std::uint64_t{parent} << 32) | static_cast<std::uint32_t>(label);
    h *= 0x9e3779b97f4a7c15U; // 2^64 / golden ratio: spreads neighbouring keys
    return static_cast<std::size_t>(h >> 20) & (table_.size() - 1);
  }

  void grow_table() {
    std::vector<std::uint32_t> larger(table_.size() * 2, kNone);
    larger.swap(table_);
    for (const std::uint32_t node : larger) {
      if (node == kNone) {
        continue;
      }
      std::size_t slot = slot_of(parent_[node], label_[node]);
      while (table_[slot] != kNone) {
        slot = (slot + 1) & (table_.size() - 1);
      }
      table_[slot] = node;
    }
  }

  std::vector<std::uint32_t> table_;
  std::size_t in_table_ = 0;
  std::vector<Links> links_;
  std::vector<std::uint32_t> parent_;
  std::vector<profile::StringId> label_;
  std::vector<profile::FrameKind> kind_;
  std::vector<std::uint64_t> margin_;
};

struct StackSums {
  std::vector<std::uint64_t> count;
  std::vector<std::uint64_t> weight;
};

StackSums sum_stacks(const profile::Profile& profile, profile::EventId event) {
  StackSums sums{std::vector<std::uint64_t>(profile.stack_count()),
                 std::vector<std::uint64_t>(profile.stack_count())};
  for (const profile::Sample& sample : profile.event(event).samples) {
    const auto stack = static_cast<std::size_t>(sample.stack);
    sums.count[stack] += sample.count;
    sums.weight[stack] += sample.weight;
  }
  return sums;
}

std::size_t shared_frames(std::span<const profile::FrameId> a,
                          std::span<const profile::FrameId> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// At least as many nodes as the tree will have.
std::size_t max_nodes(const profile::Profile& profile) {
  std::size_t nodes = 1;
  std::span<const profile::FrameId> last;
  for (std::size_t s = 0; s < profile.stack_count(); ++s) {
    const auto stack = profile.stack(static_cast<profile::StackId>(s));
    nodes += stack.size() - shared_frames(stack, last);
    last = stack;
  }
  return nodes;
}

// Grows the tree by every stack that has samples; gives each stack's node. Consecutive stacks are
// mostly alike: the part that they share is not looked up again.
std::vector<std::uint32_t> grow(const profile::Profile& profile, const StackSums& sums,
                                Sprout& sprout) {
  std::vector<std::uint32_t> node_of_stack(profile.stack_count(), 0);
  std::span<const profile::FrameId> last;
  std::vector<std::uint32_t> path; // the nodes of `last`
  for (std::size_t s = 0; s < profile.stack_count(); ++s) {
    if (sums.count[s] == 0 && sums.weight[s] == 0) {
      continue;
    }
    const auto stack = profile.stack(static_cast<profile::StackId>(s));
    path.resize(shared_frames(stack, last));
    for (std::size_t depth = 0; depth < stack.size(); ++depth) {
      const profile::Frame& frame = profile.frame(stack[depth]);
      if (depth == path.size()) {
        path.push_back(sprout.child(depth == 0 ? 0 : path[depth - 1], frame.name));
      }
      sprout.vote(path[depth], frame.kind, sums.weight[s]);
    }
    node_of_stack[s] = path.empty() ? 0 : path.back();
    last = stack;
  }
  return node_of_stack;
}

// The nodes 1.. grouped by parent, heaviest first, ties by first appearance.
std::vector<std::uint32_t> order_children(const std::vector<std::uint32_t>& parent,
                                          const std::vector<std::uint64_t>& total) {
  std::vector<std::uint32_t> begin(parent.size() + 1, 0);
  for (std::size_t n = 1; n < parent.size(); ++n) {
    ++begin[parent[n] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(parent.size() - 1);
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t n = 1; n < parent.size(); ++n) {
    order[next[parent[n]]++] = n;
  }
  for (std::size_t p = 0; p < parent.size(); ++p) {
    if (begin[p + 1] - begin[p] > 1) {
      std::sort(order.begin() + begin[p], order.begin() + begin[p + 1],
                [&](std::uint32_t a, std::uint32_t b) {
                  return total[a] != total[b] ? total[a] > total[b] : a < b;
                });
    }
  }
  return order;
}

// Where each sprouted node goes in preorder. A parent sprouts before its children, so by the time
// that a node's children are placed its own place is known.
std::vector<std::uint32_t> place_nodes(const std::vector<std::uint32_t>& parent,
                                       const std::vector<std::uint32_t>& order,
                                       const std::vector<std::uint32_t>& frames) {
  std::vector<std::uint32_t> place(parent.size(), 0);
  std::vector<std::uint32_t> next(parent.size(), 0);
  next[0] = 1;
  for (const std::uint32_t n : order) {
    place[n] = next[parent[n]];
    next[parent[n]] += frames[n];
    next[n] = place[n] + 1;
  }
  return place;
}

// A column in the order of the nodes' places instead of their creation.
template <typename T>
std::vector<T> placed(const std::vector<T>& column, const std::vector<std::uint32_t>& place) {
  std::vector<T> out(place.size());
  for (std::size_t n = 0; n < place.size(); ++n) {
    out[place[n]] = column[n];
  }
  return out;
}

std::vector<std::uint64_t> per_node(const std::vector<std::uint64_t>& per_stack,
                                    const std::vector<std::uint32_t>& node_of_stack,
                                    std::size_t nodes) {
  std::vector<std::uint64_t> out(nodes, 0);
  for (std::size_t s = 0; s < per_stack.size(); ++s) {
    out[node_of_stack[s]] += per_stack[s];
  }
  return out;
}

} // namespace

CallTree build_call_tree(const profile::Profile& profile, profile::EventId event) {
  StackSums sums = sum_stacks(profile, event);
  Sprout sprout(max_nodes(profile));
  CallTree tree;
  tree.node_of_stack = grow(profile, sums, sprout);
  sprout.drop_index();

  const std::size_t size = sprout.size();
  std::vector<std::uint64_t> total(size, 0);
  std::vector<std::uint32_t> frames(size, 1);
  for (std::size_t s = 0; s < tree.node_of_stack.size(); ++s) {
    total[tree.node_of_stack[s]] += sums.weight[s];
  }
  for (std::size_t n = size - 1; n > 0; --n) {
    total[sprout.parent()[n]] += total[n];
    frames[sprout.parent()[n]] += frames[n];
  }
  std::vector<std::uint32_t> place =
      place_nodes(sprout.parent(), order_children(sprout.parent(), total), frames);

  // Column by column, each replacing the one that it is made from.
  tree.end = placed(std::exchange(frames, {}), place);
  for (std::size_t at = 0; at < size; ++at) {
    tree.end[at] += static_cast<std::uint32_t>(at);
  }
  tree.total_weight = placed(std::exchange(total, {}), place);
  tree.label = placed(sprout.take_label(), place);
  tree.kind = placed(sprout.take_kind(), place);
  tree.parent = placed(sprout.take_parent(), place);
  for (std::size_t at = 1; at < size; ++at) {
    tree.parent[at] = place[tree.parent[at]];
  }
  tree.parent[0] = 0;
  for (std::uint32_t& node : tree.node_of_stack) {
    node = place[node];
  }
  std::vector<std::uint32_t>().swap(place);
  tree.self_count = per_node(std::exchange(sums.count, {}), tree.node_of_stack, size);
  tree.self_weight = per_node(std::exchange(sums.weight, {}), tree.node_of_stack, size);
  return tree;
}

} // namespace jprof::render
