// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/call_tree.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/method_table.h"

#include <gtest/gtest.h>

namespace {

using jprof::profile::FrameKind;
using jprof::profile::Profile;
using jprof::render::build_call_tree;
using jprof::render::CallTree;

Profile folded(std::string_view text) {
  auto profile = jprof::render::read_collapsed(text, "test");
  EXPECT_TRUE(profile.has_value());
  return std::move(*profile);
}

std::string outline(const Profile& profile, const CallTree& tree) {
  std::string out;
  for (std::size_t n = 1; n < tree.size(); ++n) {
    for (std::size_t p = tree.parent[n]; p != 0; p = tree.parent[p]) {
      out += ' ';
    }
    out += std::string(profile.string(tree.label[n])) + ":" + std::to_string(tree.total_weight[n]) +
           "/" + std::to_string(tree.self_weight[n]) + "\n";
  }
  return out;
}

TEST(CallTree, PutsHeavierChildrenFirst) {
  const Profile profile = folded("a;b 1\na;c 5\nd 2\na 1\n");

  const CallTree tree = build_call_tree(profile);

  EXPECT_EQ(outline(profile, tree), "a:7/1\n c:5/5\n b:1/1\nd:2/2\n");
  EXPECT_EQ(tree.total_weight[0], 9U);
  EXPECT_EQ(tree.end[0], tree.size());
  EXPECT_EQ(tree.end[1], 4U);
}

TEST(CallTree, MergesKindsOfOneNameUnderTheHeaviestKind) {
  const Profile profile = folded("a;b_[0] 2\na;b_[j] 5\na;b_[i] 1\n");

  const CallTree tree = build_call_tree(profile);

  EXPECT_EQ(outline(profile, tree), "a:8/0\n b:8/8\n");
  EXPECT_EQ(tree.kind[2], FrameKind::kC2);
}

TEST(CallTree, HoldsOnlyTheRootWithoutSamples) {
  const CallTree tree = build_call_tree(folded(""));

  EXPECT_EQ(tree.size(), 1U);
  EXPECT_EQ(tree.total_weight[0], 0U);
}

TEST(CallTree, KnowsTheNodeOfEveryStack) {
  const Profile profile = folded("a;b 1\na;c 5\nd 2\n");

  const CallTree tree = build_call_tree(profile);

  for (const auto& sample : profile.event().samples) {
    const auto node = tree.node_of_stack[static_cast<std::size_t>(sample.stack)];
    EXPECT_EQ(tree.label[node], profile.frame(profile.stack(sample.stack).back()).name);
    EXPECT_EQ(tree.self_weight[node], sample.weight);
  }
}

TEST(CallTree, FindsEveryChildOfANodeWithThousandsAgain) {
  std::string text;
  for (int round = 0; round < 2; ++round) {
    for (int method = 0; method < 3000; ++method) {
      text += "main;m" + std::to_string(method) + ";leaf" + std::to_string(round) + " 1\n";
    }
  }
  const Profile profile = folded(text);

  const CallTree tree = build_call_tree(profile);

  // The root, main, its children, and two leaves below each of them.
  ASSERT_EQ(tree.size(), 2U + 3000U + 6000U);
  EXPECT_EQ(tree.total_weight[1], 6000U);
  for (std::size_t n = 2; n < tree.size(); n += 3) {
    ASSERT_EQ(tree.parent[n], 1U);
    ASSERT_EQ(tree.total_weight[n], 2U);
    ASSERT_EQ(tree.end[n], n + 3);
  }
}

TEST(MethodTable, CountsRecursionOnce) {
  const Profile profile = folded("a;b;a;b 4\na;c 1\n");

  const auto rows = jprof::render::top_methods(profile, build_call_tree(profile), 10);

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(profile.string(rows[0].label), "b");
  EXPECT_EQ(rows[0].total_weight, 4U);
  EXPECT_EQ(rows[0].self_weight, 4U);
  EXPECT_EQ(profile.string(rows[1].label), "c");
  EXPECT_EQ(profile.string(rows[2].label), "a");
  EXPECT_EQ(rows[2].total_weight, 5U);
}

} // namespace
