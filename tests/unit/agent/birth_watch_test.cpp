// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/system.h"
#include "agent/recording/birth_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace jprof::agent::recording {
namespace {

// A thread that lives until it may end.
class Living {
 public:
  Living()
      : thread_([this] {
          tid_ = os::thread_id();
          tid_.notify_all();
          may_end_.wait(false);
        }) {
    tid_.wait(0);
  }
  ~Living() {
    may_end_ = true;
    may_end_.notify_all();
    thread_.join();
  }
  std::int32_t tid() const { return tid_; }

 private:
  std::atomic<std::int32_t> tid_{0};
  std::atomic<bool> may_end_{false};
  std::thread thread_;
};

struct Found {
  std::vector<std::int32_t> tids;
  bool all = false;
  bool has(std::int32_t tid) const { return std::ranges::count(tids, tid) > 0; }
};

// What is found in two looks: each id is asked twice.
Found look(BirthWatch& watch) {
  Found found;
  const auto visit = [](std::int32_t tid, void* context) {
    static_cast<std::vector<std::int32_t>*>(context)->push_back(tid);
  };
  found.all = watch.look(1, visit, &found.tids);
  found.all = watch.look(1, visit, &found.tids) && found.all;
  return found;
}

TEST(BirthWatch, FindsThreadsThatBeganAndNoOthers) {
  const Living old;
  BirthWatch watch;
  watch.open();
  ASSERT_TRUE(watch.is_open());
  const Living first;
  const Living second;
  EXPECT_TRUE(watch.is_since_look(second.tid()));

  const Found found = look(watch);

  if (!found.all) {
    GTEST_SKIP() << "too many processes begin on this machine just now";
  }
  EXPECT_TRUE(found.has(first.tid()) && found.has(second.tid()));
  EXPECT_FALSE(found.has(old.tid()));
  EXPECT_FALSE(watch.is_since_look(second.tid()));
  EXPECT_TRUE(watch.is_since_open(second.tid()));
  EXPECT_FALSE(watch.is_since_open(old.tid()));
  watch.close();
}

TEST(BirthWatch, FindsNothingOnceItIsClosed) {
  BirthWatch watch;
  watch.open();
  watch.close();
  const Living born;

  EXPECT_FALSE(watch.is_open());
  EXPECT_FALSE(look(watch).has(born.tid()));
}

} // namespace
} // namespace jprof::agent::recording
