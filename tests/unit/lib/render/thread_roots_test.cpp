// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/thread_roots.h"
#include "lib/render/tree_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof {
namespace {

using render::pool_name;
using render::ThreadRoots;
using render::with_thread_roots;

// Two threads of a pool and a compiler's, all in the same method, and one without a frame.
profile::Profile sample_profile(bool has_threads = true) {
  profile::ProfileBuilder builder;
  builder.info().has_threads = has_threads;
  const profile::FrameId frame = builder.intern_frame({.kind = profile::FrameKind::kC2,
                                                       .name = builder.intern_string("A.b"),
                                                       .owner = builder.intern_string("A"),
                                                       .signature = builder.intern_string("()V")});
  const auto add = [&](std::string_view name, std::uint64_t weight, bool empty = false) {
    const auto thread = builder.add_thread({.name = builder.intern_string(name)});
    const auto stack = empty ? builder.intern_stack({}) : builder.intern_stack({&frame, 1});
    builder.add_sample({.thread = thread, .stack = stack, .weight = weight});
  };
  add("exec-1", 1);
  add("exec-22", 2);
  add("C1", 4);
  add("exec-1", 8);
  add("", 16, true);
  return builder.build();
}

TEST(ThreadRoots, AreAFrameForEachName) {
  EXPECT_EQ(render::write_collapsed(with_thread_roots(sample_profile(), ThreadRoots::kThread)),
            "[C1];A.b 4\n[exec-1];A.b 9\n[exec-22];A.b 2\n[unnamed] 16\n");
}

TEST(ThreadRoots, AreAFrameForEachPool) {
  const profile::Profile profile = with_thread_roots(sample_profile(), ThreadRoots::kPool);
  EXPECT_EQ(render::write_collapsed(profile), "[C1];A.b 4\n[exec-*];A.b 11\n[unnamed] 16\n");
  const std::string tree = render::write_tree_json(profile);
  EXPECT_NE(tree.find(R"("name":"[exec-*]","kind":"thread")"), std::string::npos) << tree;
}

TEST(ThreadRoots, LeaveEverythingElseAsItIs) {
  const profile::Profile before = sample_profile();
  const profile::Profile after = with_thread_roots(before, ThreadRoots::kPool);
  EXPECT_EQ(after.event().total_weight, before.event().total_weight);
  EXPECT_EQ(after.event().total_count, before.event().total_count);
  ASSERT_EQ(after.threads().size(), before.threads().size());
  EXPECT_EQ(after.string(after.threads()[1].name), "exec-22");
  for (std::size_t i = 0; i < before.event().samples.size(); ++i) {
    EXPECT_EQ(after.event().samples[i].thread, before.event().samples[i].thread);
    EXPECT_EQ(after.stack(after.event().samples[i].stack).size(),
              before.stack(before.event().samples[i].stack).size() + 1);
  }
}

TEST(ThreadRoots, AreNoneWhereThreadsAreNotKnownOrNotWanted) {
  const std::string plain = "A.b 15\n[empty stack] 16\n";
  EXPECT_EQ(render::write_collapsed(with_thread_roots(sample_profile(), ThreadRoots::kNone)),
            plain);
  EXPECT_EQ(render::write_collapsed(with_thread_roots(sample_profile(false), ThreadRoots::kPool)),
            plain);
}

TEST(ThreadRoots, NameThePool) {
  EXPECT_EQ(pool_name("http-nio-8080-exec-12"), "http-nio-8080-exec-*");
  EXPECT_EQ(pool_name("pool-3-thread-7"), "pool-3-thread-*");
  EXPECT_EQ(pool_name("ForkJoinPool.commonPool-worker-1"), "ForkJoinPool.commonPool-worker-*");
  EXPECT_EQ(pool_name("GC Thread#3"), "GC Thread#*");
  EXPECT_EQ(pool_name("G1 Conc#0"), "G1 Conc#*");
  EXPECT_EQ(pool_name("C2 CompilerThread0"), "C2 CompilerThread*");
  EXPECT_EQ(pool_name("Thread-0"), "Thread-*");
  for (const char* name : {"C1", "G1", "main", "VM Thread", "12", "", "h2"}) {
    EXPECT_EQ(pool_name(name), name);
  }
}

} // namespace
} // namespace jprof
