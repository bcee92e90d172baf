// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/diagnostic.h"

#include <gtest/gtest.h>

namespace jprof::jvm {
namespace {

using base::ErrorCode;

TEST(Diagnostic, TakesTheWordsOfJattach) {
  EXPECT_EQ(make_diagnostic("jcmd", {"GC.class_stats", "-all", "x"})->command.arguments,
            (std::vector<std::string>{"GC.class_stats -all x"}));
  EXPECT_EQ(make_diagnostic("jcmd", {})->command.arguments, (std::vector<std::string>{"help"}));
  EXPECT_EQ(make_diagnostic("load", {"/a.so"})->command.arguments,
            (std::vector<std::string>{"/a.so", "true"}));
  EXPECT_EQ(make_diagnostic("load", {"instrument", "false", "a.jar=x"})->command.arguments,
            (std::vector<std::string>{"instrument", "false", "a.jar=x"}));
  EXPECT_EQ(make_diagnostic("inspectheap", {"-live"})->command.name, "inspectheap");
}

TEST(Diagnostic, RefusesWhatTheJvmDoesNotKnow) {
  EXPECT_EQ(make_diagnostic("exec", {}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(make_diagnostic("dumpheap", {}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(make_diagnostic("load", {}).error().code, ErrorCode::kUsage);
}

TEST(Diagnostic, JudgesJavaAgentsByTheirNumbers) {
  const auto agent = make_diagnostic("load", {"instrument", "false", "a.jar"});

  EXPECT_TRUE(judge(*agent, {0, "return code: 0\n"}));
  for (const char* code : {"100", "101", "102"}) {
    const auto status = judge(*agent, {0, std::string("return code: ") + code});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kAgentFailed);
    EXPECT_EQ(status.error().message.find(code), std::string::npos); // a sentence, no number
  }
}

TEST(Diagnostic, JudgesAnUnknownFlagAsAFailure) {
  const auto flag = make_diagnostic("printflag", {"Nope"});

  EXPECT_FALSE(judge(*flag, {0, "no such flag 'Nope'\n"}));
  EXPECT_TRUE(judge(*flag, {0, "-XX:MaxHeapFreeRatio=70\n"}));
}

TEST(Diagnostic, FailsWithTheJvmsOwnWords) {
  const auto status = judge(*make_diagnostic("setflag", {"UseG1GC", "1"}),
                            {-1, "flag 'UseG1GC' cannot be changed\n"});

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kAttachFailed);
  EXPECT_NE(status.error().message.find("cannot be changed"), std::string::npos);
}

TEST(Diagnostic, SaysWhereADumpWent) {
  EXPECT_NE(make_diagnostic("datadump", {})->note.find("standard output"), std::string::npos);
}

} // namespace
} // namespace jprof::jvm
