// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/status.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace jprof::container {
namespace {

// As Linux 6.1 writes it for a JVM in a container, seen from two namespaces above (some lines left
// out).
constexpr char kJvm[] = "Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4711\nNgid:\t0\n"
                        "Pid:\t4711\nPPid:\t4690\nTracerPid:\t0\nUid:\t1000\t1001\t1002\t1003\n"
                        "Gid:\t2000\t2001\t2002\t2003\nFDSize:\t64\nGroups:\t3000 \n"
                        "NStgid:\t4711\t12\t1\nNSpid:\t4711\t12\t1\nThreads:\t23\nSigQ:\t3/96400\n"
                        "SigPnd:\t0000000000000000\nSigBlk:\t0000000000000000\n"
                        "SigIgn:\t0000000000000000\nSigCgt:\t2000000181005ccf\n"
                        "CapInh:\t0000000000000000\nCapPrm:\t0000000000000400\n"
                        "CapEff:\t0000000000000000\nSeccomp:\t2\n";

TEST(ProcessStatus, HoldsIdsNamespacesCapabilitiesAndSignals) {
  const auto status = parse_status(kJvm);

  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->name, "java");
  EXPECT_EQ(status->state, 'S');
  EXPECT_EQ(status->real_uid, 1000U);
  EXPECT_EQ(status->effective_uid, 1001U);
  EXPECT_EQ(status->saved_uid, 1002U);
  EXPECT_EQ(status->effective_gid, 2001U);
  EXPECT_EQ(status->namespace_pids, (std::vector<pid_t>{4711, 12, 1}));
  EXPECT_EQ(status->innermost_pid(), 1);
  EXPECT_EQ(status->permitted_capabilities, 0x400U);
  EXPECT_TRUE(status->catches(SIGQUIT));
  EXPECT_FALSE(status->catches(SIGUSR1));
  EXPECT_EQ(status->threads, 23U);
  EXPECT_EQ(status->queued_signals, 3U);
  EXPECT_EQ(status->queued_signals_limit, 96400U);
}

TEST(ProcessStatus, IsRefusedWithoutASignalLine) {
  std::string text = kJvm;
  text.erase(text.find("SigCgt"), sizeof("SigCgt:\t2000000181005ccf"));

  const auto status = parse_status(text);

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kProtocol);
}

TEST(ProcessStatus, IsRefusedWhereANumberIsNone) {
  std::string text = kJvm;
  text.replace(text.find("NSpid:\t4711"), 11, "NSpid:\t47x1");

  EXPECT_FALSE(parse_status(text));
}

TEST(ProcessStatus, TakesANameThatImitatesALine) {
  // The kernel escapes line feeds in names, nothing else.
  std::string text = kJvm;
  text.replace(text.find("Name:\tjava"), 10, "Name:\tUid:\t0\\n");

  const auto status = parse_status(text);

  ASSERT_TRUE(status);
  EXPECT_EQ(status->real_uid, 1000U);
}

TEST(ProcessStat, FindsTheStartAfterAnyName) {
  const auto stat = parse_stat("42 (a) R 1 ) S) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 23 0 "
                               "987654 1 2 3\n");

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_ticks, 987654U);
}

TEST(ProcessStat, TellsAThreadThatEndsAndWhatEndedTheProcess) {
  const auto stat = [](char state, const std::string& flags, const std::string& exit_code) {
    return parse_stat(
               "42 (java) " + std::string(1, state) + " 1 42 42 0 -1 " + flags +
               " 1 2 3 4 5 6 7 8 20 0 7 0 987654 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 "
               "3 4 5 6 7 8 9 " +
               exit_code + "\n")
        .value();
  };

  EXPECT_FALSE(stat('S', "4194560", "0").ending());
  EXPECT_TRUE(stat('R', "4194564", "0").ending()); // PF_EXITING
  EXPECT_TRUE(stat('Z', "0", "0").ending());
  EXPECT_TRUE(stat('X', "0", "0").ending());
  EXPECT_EQ(stat('Z', "4", "0").ended_by_signal(), 0);   // pthread_exit(3)
  EXPECT_EQ(stat('Z', "4", "137").ended_by_signal(), 9); // with a core dump
  EXPECT_EQ(stat('Z', "4", "36608").exit_code, 143 << 8);
  EXPECT_EQ(stat('S', "4", "9").ended_by_signal(), 0);
}

TEST(ProcessStat, IsRefusedWhenCut) {
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("42 (java) S 1 2 3\n"));
}

} // namespace
} // namespace jprof::container
