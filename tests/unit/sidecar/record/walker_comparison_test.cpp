// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"
#include "sidecar/record/walker_comparison.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace jprof::record {
namespace {

using profile::FrameKind;

struct Leaf {
  std::vector<std::pair<FrameKind, std::string>> stack; // root first
  std::uint64_t samples;
};

// As it comes from the process that recorded it.
WalkerRound make(const std::vector<Leaf>& leaves) {
  profile::ProfileBuilder builder;
  const profile::ThreadId thread = builder.add_thread({});
  for (const Leaf& leaf : leaves) {
    std::vector<profile::FrameId> frames;
    for (const auto& [kind, name] : leaf.stack) {
      const bool is_java = kind != FrameKind::kError && kind != FrameKind::kVm && name[0] != '[';
      frames.push_back(
          builder.intern_frame({.kind = kind,
                                .name = builder.intern_string(name),
                                .owner = builder.intern_string(is_java ? "Owner" : "")}));
    }
    builder.add_sample({.thread = thread,
                        .stack = builder.intern_stack(frames),
                        .count = leaf.samples,
                        .weight = leaf.samples * 10'000'000});
  }
  return parse_round(round_text(round_of(builder.build()))).value();
}

const ComparedMethod& method(const std::vector<ComparedMethod>& methods, const std::string& name) {
  for (const ComparedMethod& candidate : methods) {
    if (candidate.name == name) {
      return candidate;
    }
  }
  static const ComparedMethod kNone;
  ADD_FAILURE() << "no method " << name;
  return kNone;
}

TEST(WalkerComparison, ShowsTimeThatAWalkerPutsElsewhere) {
  WalkerComparison comparison({"vmstructs", "jvmti"});
  comparison.add(0, make({{{{FrameKind::kC2, "A.main"}, {FrameKind::kInlined, "A.hot"}}, 750},
                          {{{FrameKind::kC2, "A.main"}, {FrameKind::kC1, "A.warm"}}, 250}}));
  comparison.add(1, make({{{{FrameKind::kUnknown, "A.main"}}, 1000}}));
  const std::vector<ComparedMethod> methods = comparison.methods(0.01);
  ASSERT_EQ(methods.size(), 3U);
  EXPECT_EQ(methods[0].name, "A.main");
  EXPECT_DOUBLE_EQ(methods[0].difference, 1);
  EXPECT_TRUE(methods[0].shares[1].differs);
  EXPECT_DOUBLE_EQ(method(methods, "A.hot").shares[0].share, 0.75);
  EXPECT_DOUBLE_EQ(method(methods, "A.hot").shares[1].share, 0);
  const std::vector<ComparedWalker> walkers = comparison.walkers();
  EXPECT_EQ(walkers[0].misplaced, 0);
  EXPECT_DOUBLE_EQ(walkers[1].misplaced, 1);
  EXPECT_EQ(walkers[1].samples, 1000U);
}

TEST(WalkerComparison, TakesChanceForChance) {
  WalkerComparison comparison({"vmstructs", "asgct"});
  comparison.add(0, make({{{{FrameKind::kC2, "A.hot"}}, 76}, {{{FrameKind::kC2, "A.warm"}}, 24}}));
  comparison.add(
      1, make({{{{FrameKind::kUnknown, "A.hot"}}, 70}, {{{FrameKind::kUnknown, "A.warm"}}, 30}}));
  for (const ComparedMethod& compared : comparison.methods(0.01)) {
    EXPECT_FALSE(compared.shares[1].differs) << compared.name;
    EXPECT_EQ(compared.difference, 0);
  }
  EXPECT_EQ(comparison.walkers()[1].misplaced, 0);
}

TEST(WalkerComparison, TakesTheErrorFromTheRoundsWhereTheProgramChanges) {
  WalkerComparison comparison({"vmstructs", "asgct"});
  for (const std::uint64_t hot : {9'000U, 1'000U}) { // two phases, of which each walker saw both
    comparison.add(0, make({{{{FrameKind::kC2, "A.hot"}}, hot},
                            {{{FrameKind::kC2, "A.warm"}}, 10'000 - hot}}));
    comparison.add(1, make({{{{FrameKind::kUnknown, "A.hot"}}, hot - 500},
                            {{{FrameKind::kUnknown, "A.warm"}}, 10'500 - hot}}));
  }
  EXPECT_FALSE(method(comparison.methods(0), "A.hot").shares[1].differs);
}

TEST(WalkerComparison, GivesNativeLeavesToTheirJavaMethod) {
  WalkerComparison comparison({"vmstructs", "asgct"});
  comparison.add(0,
                 make({{{{FrameKind::kC2, "A.zip"},
                         {FrameKind::kJavaNative, "A.deflate"},
                         {FrameKind::kNative, "deflate_fast"}},
                        500},
                       {{{FrameKind::kVm, "GCTaskThread::run"}}, 300},
                       {{{FrameKind::kC2, "A.zip"}, {FrameKind::kError, "[not_walkable]"}}, 200}}));
  comparison.add(1,
                 make({{{{FrameKind::kUnknown, "A.zip"}, {FrameKind::kUnknown, "A.deflate"}}, 500},
                       {{{FrameKind::kUnknown, "[no_Java_frames]"}}, 300},
                       {{{FrameKind::kError, "[fault]"}}, 200}}));
  const std::vector<ComparedMethod> methods = comparison.methods(0);
  ASSERT_EQ(methods.size(), 3U);
  for (const ComparedMethod& compared : methods) {
    EXPECT_DOUBLE_EQ(compared.shares[0].share, compared.shares[1].share) << compared.name;
  }
  EXPECT_DOUBLE_EQ(method(methods, "A.deflate").shares[0].share, 0.5);
  EXPECT_DOUBLE_EQ(method(methods, kNoJavaMethod).shares[1].share, 0.3);
  EXPECT_DOUBLE_EQ(comparison.walkers()[0].failed, 0.2);
}

TEST(WalkerRound, RefusesWhatItWouldNotWrite) {
  for (const char* text :
       {"", "samples", "samples 1", "samples x\n", "sample 1\n", "samples 1\n12\n",
        "samples 1\n-1 a\n", "samples 1\n99999999999999999999 a\n", "samples 1\n1 a",
        "samples 1\na\n"}) {
    EXPECT_FALSE(parse_round(text)) << text;
  }
  const auto round = parse_round("samples 7\n10 A.b (c) \x1b\n5 \n");
  ASSERT_TRUE(round);
  EXPECT_EQ(round->samples, 7U);
  EXPECT_EQ(round->weight, 15);
  EXPECT_EQ(round->weights.at("A.b (c) \x1b"), 10);
}

TEST(WalkerComparison, KnowsNothingOfAWalkerWithoutSamples) {
  WalkerComparison comparison({"vmstructs", "jmx"});
  comparison.add(0, make({{{{FrameKind::kC2, "A.hot"}}, 1000}}));
  comparison.add(1, make({}));
  EXPECT_FALSE(method(comparison.methods(0), "A.hot").shares[1].differs);
}

} // namespace
} // namespace jprof::record
