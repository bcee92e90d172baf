// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <cstdint>
#include <vector>

namespace jprof::render {

// All stacks of a profile as one tree, in preorder: node 0 is the root, the subtree of node n is
// [n, end[n]), children heaviest first. Frames with one label share a node whatever their kind; the
// node's kind is that of most of its weight.
struct CallTree {
  std::vector<std::uint32_t> parent; // parent[0] is 0
  std::vector<std::uint32_t> end;
  std::vector<profile::StringId> label;
  std::vector<profile::FrameKind> kind;
  std::vector<std::uint64_t> self_count; // samples
  std::vector<std::uint64_t> self_weight;
  std::vector<std::uint64_t> total_weight;
  std::vector<std::uint32_t> node_of_stack; // by StackId

  std::size_t size() const { return parent.size(); }
};

// Equal profiles give equal trees. Memory: about 50 bytes per node while it is being built.
CallTree build_call_tree(const profile::Profile& profile,
                         profile::EventId event = profile::kFirstEvent);

} // namespace jprof::render
