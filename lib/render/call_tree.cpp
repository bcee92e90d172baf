// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/call_tree.h"

#include <algorithm>
#include <numeric>

namespace jprof::render {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

// Nodes in the order in which stacks first reach them; children are found by open addressing over
// (parent, label). Kinds are settled by a weighted majority vote, which needs no table per node.
class Sprout {
 public:
  Sprout() : table_(std::size_t{1} << 12, kNone) { add(kNone, profile::kNoString); }

  std::uint32_t child(std::uint32_t parent, profile::StringId label) {
    for (std::size_t slot = slot_of(parent, label);; slot = (slot + 1) & (table_.size() - 1)) {
      const std::uint32_t node = table_[slot];
      if (node == kNone) {
        table_[slot] = size();
        add(parent, label);
        if (parent_.size() * 2 > table_.size()) {
          rehash();
        }
        return size() - 1;
      }
      if (parent_[node] == parent && label_[node] == label) {
        return node;
      }
    }
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
  profile::StringId label(std::uint32_t node) const { return label_[node]; }
  profile::FrameKind kind(std::uint32_t node) const { return kind_[node]; }
  void drop_index() { std::vector<std::uint32_t>().swap(table_); }

 private:
  void add(std::uint32_t parent, profile::StringId label) {
    parent_.push_back(parent);
    label_.push_back(label);
    kind_.push_back(profile::FrameKind::kUnknown);
    margin_.push_back(0);
  }

  std::size_t slot_of(std::uint32_t parent, profile::StringId label) const {
    std::uint64_t h = (std::uint64_t{parent} << 32) | static_cast<std::uint32_t>(label);
    h *= 0x9e3779b97f4a7c15U; // 2^64 / golden ratio: spreads neighbouring keys
    return static_cast<std::size_t>(h >> 20) & (table_.size() - 1);
  }

  void rehash() {
    table_.assign(table_.size() * 2, kNone);
    for (std::uint32_t node = 1; node < size(); ++node) {
      std::size_t slot = slot_of(parent_[node], label_[node]);
      while (table_[slot] != kNone) {
        slot = (slot + 1) & (table_.size() - 1);
      }
      table_[slot] = node;
    }
  }

  std::vector<std::uint32_t> table_;
  std::vector<std::uint32_t> parent_;
  std::vector<profile::StringId> label_;
  std::vector<profile::FrameKind> kind_;
  std::vector<std::uint64_t> margin_;
};

struct StackSums {
  std::vector<std::uint64_t> count;
  std::vector<std::uint64_t> weight;
};

StackSums sum_stacks(const profile::Profile& profile) {
  StackSums sums{std::vector<std::uint64_t>(profile.stack_count()),
                 std::vector<std::uint64_t>(profile.stack_count())};
  for (const profile::Sample& sample : profile.samples()) {
    const auto stack = static_cast<std::size_t>(sample.stack);
    sums.count[stack] += sample.count;
    sums.weight[stack] += sample.weight;
  }
  return sums;
}

// Grows the tree by every stack that has samples; gives each stack's node.
std::vector<std::uint32_t> grow(const profile::Profile& profile, const StackSums& sums,
                                Sprout& sprout) {
  std::vector<std::uint32_t> node_of_stack(profile.stack_count(), 0);
  for (std::size_t s = 0; s < profile.stack_count(); ++s) {
    if (sums.count[s] == 0 && sums.weight[s] == 0) {
      continue;
    }
    std::uint32_t node = 0;
    for (const profile::FrameId id : profile.stack(static_cast<profile::StackId>(s))) {
      const profile::Frame& frame = profile.frame(id);
      node = sprout.child(node, frame.name);
      sprout.vote(node, frame.kind, sums.weight[s]);
    }
    node_of_stack[s] = node;
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

void allocate(CallTree& tree, std::size_t size) {
  tree.parent.resize(size);
  tree.end.resize(size);
  tree.label.resize(size);
  tree.kind.resize(size);
  tree.self_count.resize(size);
  tree.self_weight.resize(size);
  tree.total_weight.resize(size);
}

} // namespace

CallTree build_call_tree(const profile::Profile& profile) {
  const StackSums sums = sum_stacks(profile);
  Sprout sprout;
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
  const std::vector<std::uint32_t> place =
      place_nodes(sprout.parent(), order_children(sprout.parent(), total), frames);

  allocate(tree, size);
  for (std::uint32_t n = 0; n < size; ++n) {
    const std::uint32_t at = place[n];
    tree.parent[at] = n == 0 ? 0 : place[sprout.parent()[n]];
    tree.end[at] = at + frames[n];
    tree.label[at] = sprout.label(n);
    tree.kind[at] = sprout.kind(n);
    tree.total_weight[at] = total[n];
  }
  for (std::size_t s = 0; s < tree.node_of_stack.size(); ++s) {
    const std::uint32_t at = place[tree.node_of_stack[s]];
    tree.node_of_stack[s] = at;
    tree.self_count[at] += sums.count[s];
    tree.self_weight[at] += sums.weight[s];
  }
  return tree;
}

} // namespace jprof::render
