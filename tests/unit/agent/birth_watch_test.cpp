// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/system.h"
#include "agent/recording/birth_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
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

// What stands for /proc/loadavg: a container may mask it, or show another PID namespace's.
class MadeUp {
 public:
  MadeUp() { ::close(::mkstemp(path_.data())); }
  ~MadeUp() { ::unlink(path_.c_str()); }
  const char* path() const { return path_.c_str(); }
  void says(const std::string& text) const { std::ofstream(path_) << text; }
  void last_is(std::int32_t tid) const {
    says("0.52 0.58 0.59 1/1213 " + std::to_string(tid) + "\n");
  }

 private:
  std::string path_ = testing::TempDir() + "loadavg-XXXXXX";
};

TEST(BirthWatch, IsNotThereWhereTheFileIsMasked) {
  const MadeUp file;
  for (const char* masked : {"", "0.00 0.00 0.00 0/0 0\n", "masked\n", "1 2 3 4/5 99999999999\n"}) {
    file.says(masked);
    BirthWatch watch;
    watch.open(file.path());
    EXPECT_FALSE(watch.is_open()) << masked;
  }
  BirthWatch watch;
  watch.open("/proc/no/such/file");
  EXPECT_FALSE(watch.is_open());
}

TEST(BirthWatch, SaysThatOnlyAScanFindsWhatIsNewOnceTheFileIsMasked) {
  const MadeUp file;
  file.last_is(os::thread_id());
  BirthWatch watch;
  watch.open(file.path());
  ASSERT_TRUE(watch.is_open());
  file.says("");
  EXPECT_FALSE(look(watch).all);
}

// The kernel begins anew at 300: what lies between may be ours, and is found by a scan. From there
// on it counts up again.
TEST(BirthWatch, SaysThatOnlyAScanFindsWhatIsNewWhenIdsWrapNobodyKnowsWhere) {
  const MadeUp file;
  file.last_is(4'194'300);
  BirthWatch watch;
  watch.open(file.path(), "/no/such/file");
  const Living born;
  file.last_is(born.tid() - 1);

  EXPECT_FALSE(look(watch).all);
  EXPECT_TRUE(watch.is_since_open(born.tid() - 1));
  EXPECT_FALSE(watch.is_since_open(4'194'299));

  file.last_is(born.tid());
  const Found found = look(watch);
  EXPECT_TRUE(found.all && found.has(born.tid()));
}

// The kernel gives out the ids below its highest one, then those from 300 on.
TEST(BirthWatch, GoesOnBehindTheHighestId) {
  const MadeUp file;
  const MadeUp highest;
  const Living born;
  highest.says(std::to_string(born.tid() + 1) + "\n");
  file.last_is(born.tid() - 2);
  BirthWatch watch;
  watch.open(file.path(), highest.path());
  file.last_is(305);

  const Found found = look(watch);

  EXPECT_TRUE(found.all && found.has(born.tid()));
  EXPECT_TRUE(watch.is_since_open(born.tid()) && watch.is_since_open(305));
  EXPECT_FALSE(watch.is_since_open(306));
}

TEST(BirthWatch, KnowsThatAllIdsAreNewOnceTheyHaveGoneRound) {
  const MadeUp file;
  file.last_is(1000);
  BirthWatch watch;
  watch.open(file.path(), "/no/such/file");
  EXPECT_FALSE(watch.is_since_open(900));
  for (const std::int32_t last : {400, 1001}) {
    file.last_is(last);
    look(watch);
  }

  EXPECT_TRUE(watch.is_since_open(900) && watch.is_since_open(1001));
}

// With hostPID, or in a pod that shares its namespace, ids are given to anybody.
TEST(BirthWatch, SaysThatOnlyAScanFindsWhatIsNewWhereTooManyIdsAreOthers) {
  const MadeUp file;
  file.last_is(1000);
  BirthWatch watch;
  watch.open(file.path());
  file.last_is(1'000'000);
  EXPECT_FALSE(look(watch).all);

  const Living born; // once it is calm again
  file.last_is(born.tid() - 1);
  look(watch);
  file.last_is(born.tid());
  EXPECT_TRUE(look(watch).has(born.tid()));
}

TEST(BirthWatch, AsksEachIdTwiceAndTellsWhichTimeItIs) {
  const MadeUp file;
  const Living born;
  file.last_is(born.tid() - 1);
  BirthWatch watch;
  watch.open(file.path());
  file.last_is(born.tid());
  std::vector<bool> again;
  struct Asked {
    BirthWatch& watch;
    std::vector<bool>& again;
    std::int32_t tid;
  } asked{watch, again, born.tid()};
  const auto visit = [](std::int32_t tid, void* context) {
    const auto& to = *static_cast<Asked*>(context);
    if (tid == to.tid) {
      to.again.push_back(to.watch.is_asked_again(tid));
    }
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(watch.look(1, visit, &asked));
  }
  EXPECT_EQ(again, (std::vector<bool>{true, false}));
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
