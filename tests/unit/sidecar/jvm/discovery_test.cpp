// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/discovery.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace jprof::jvm {
namespace {

using base::ErrorCode;

struct Entry {
  std::string name = "java";
  char state = 'S';
  std::string maps = "1000-2000 r-xp 00000000 fe:01 9 /opt/jdk/lib/server/libjvm.so\n"
                     "3000-4000 r-xp 00000000 fe:01 8 /lib/x86_64-linux-gnu/libc.so.6\n";
  std::string cmdline = std::string("java\0Main\0", 10);
  std::string container_id{}; // empty: /proc does not say
};

// A /proc made of files.
class ProcTree {
 public:
  void add(int pid, const Entry& entry) {
    const std::string folder = tree_.path() + "/" + std::to_string(pid);
    std::filesystem::create_directories(folder);
    const std::string id = std::to_string(pid);
    write(folder + "/stat", id + " (" + entry.name + ") " + entry.state +
                                " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0\n");
    write(folder + "/status",
          "Name:\t" + entry.name + "\nState:\t" + entry.state +
              " (x)\nUid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nNSpid:\t" + id +
              "\t1\nThreads:\t9\nSigCgt:\t2000000181005ccf\nCapPrm:\t0\nCapEff:\t0\n");
    write(folder + "/maps", entry.maps);
    write(folder + "/cmdline", entry.cmdline);
    write(folder + "/cgroup", entry.container_id.empty()
                                  ? "0::/\n"
                                  : "0::/../cri-containerd-" + entry.container_id + ".scope\n");
  }
  container::ProcRoot open() const { return std::move(*container::ProcRoot::open(tree_.path())); }
  const std::string& path() const { return tree_.path(); }

 private:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  testing::TempDir tree_;
};

TEST(Discovery, FindsJvmsByWhatIsMappedAndNotByName) {
  ProcTree proc;
  proc.add(5, {.name = "ld-linux"});
  proc.add(6, {.name = "java", .maps = "1000-2000 r-xp 00000000 fe:01 9 /bin/java\n"});
  proc.add(7, {.name = "qemu-aarch64"});

  const auto found = find_jvms(proc.open());

  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].target.pid(), 5);
  EXPECT_EQ((*found)[1].target.pid(), 7);
  EXPECT_EQ((*found)[1].target.innermost_pid(), 1);
  EXPECT_EQ((*found)[0].target.vm.libc, container::Libc::kGlibc);
}

TEST(Discovery, OfOneJvmNeedsNoPid) {
  ProcTree proc;
  proc.add(1, {.name = "pause", .maps = ""});
  proc.add(7, {});

  const auto target = find_one_jvm(proc.open(), std::nullopt);

  ASSERT_TRUE(target) << target.error().text();
  EXPECT_EQ(target->pid(), 7);
}

TEST(Discovery, OfSeveralNamesThem) {
  ProcTree proc;
  proc.add(7, {.cmdline = std::string("java\0-jar\0shop.jar\0", 19)});
  proc.add(9, {.cmdline = std::string("java\0\x1b[2J\0", 10)});

  const auto target = find_one_jvm(proc.open(), std::nullopt);

  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::kSeveralTargets);
  EXPECT_NE(target.error().message.find("7 (shop.jar)"), std::string::npos);
  EXPECT_EQ(target.error().message.find('\x1b'), std::string::npos);
}

TEST(Discovery, OfSeveralTakesTheOneOfTheContainer) {
  const std::string first(64, 'a');
  const std::string second(64, 'b');
  ProcTree proc;
  proc.add(7, {.container_id = first});
  proc.add(9, {.container_id = second});
  proc.add(11, {});

  EXPECT_EQ(find_one_jvm(proc.open(), std::nullopt, first)->pid(), 7);
  EXPECT_EQ(find_one_jvm(proc.open(), std::nullopt, second)->pid(), 9);
  EXPECT_EQ(find_one_jvm(proc.open(), 9, second)->pid(), 9);
  EXPECT_EQ(find_one_jvm(proc.open(), 9, first).error().code, ErrorCode::kTargetNotFound);
}

TEST(Discovery, OfAnotherContainerIsNotTheOneThatWasMeant) {
  ProcTree proc;
  proc.add(7, {.container_id = std::string(64, 'a')});

  const auto target = find_one_jvm(proc.open(), std::nullopt, std::string(64, 'b'));

  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::kTargetNotFound);
  EXPECT_NE(target.error().message.find("7 (Main)"), std::string::npos);
}

TEST(Discovery, TakesAJvmWhoseContainerIsNotKnown) {
  ProcTree proc;
  proc.add(7, {});

  EXPECT_EQ(find_one_jvm(proc.open(), std::nullopt, std::string(64, 'b'))->pid(), 7);
  EXPECT_EQ(find_one_jvm(proc.open(), 7, std::string(64, 'b'))->pid(), 7);
}

TEST(Discovery, OfNothingSaysSo) {
  const ProcTree proc;

  EXPECT_EQ(find_one_jvm(proc.open(), std::nullopt).error().code, ErrorCode::kTargetNotFound);
  EXPECT_EQ(find_one_jvm(proc.open(), 4711).error().code, ErrorCode::kTargetNotFound);
}

TEST(Discovery, OfAnotherProcessIsNoJvm) {
  ProcTree proc;
  proc.add(8, {.name = "nginx", .maps = ""});

  const auto target = find_one_jvm(proc.open(), 8);

  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::kNotAJvm);
  EXPECT_NE(target.error().message.find("nginx"), std::string::npos);
}

TEST(Discovery, LeavesZombiesOut) {
  ProcTree proc;
  proc.add(8, {.state = 'Z'});

  EXPECT_TRUE(find_jvms(proc.open())->empty());
  EXPECT_EQ(find_one_jvm(proc.open(), 8).error().code, ErrorCode::kTargetGone);
}

TEST(Discovery, SurvivesDamagedEntries) {
  ProcTree proc;
  proc.add(7, {});
  proc.add(8, {});
  std::ofstream(proc.path() + "/8/status") << "Name:\tjava\n";
  std::filesystem::create_directories(proc.path() + "/9");
  std::ofstream(proc.path() + "/10") << "a file";

  const auto found = find_jvms(proc.open());

  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1U);
}

} // namespace
} // namespace jprof::jvm
