// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/diagnostic.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

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

TEST(Diagnostic, NamesACureForEachRefusal) {
  for (const auto& [name, arguments, cure] :
       {std::tuple("jcmd", std::vector<std::string>{"NoSuch"}, "jcmd help"),
        std::tuple("setflag", std::vector<std::string>{"Foo", "1"}, "VM.flags"),
        std::tuple("dumpheap", std::vector<std::string>{"/x.hprof"}, "may write"),
        std::tuple("inspectheap", std::vector<std::string>{"x"}, "[-live|-all]"),
        std::tuple("load", std::vector<std::string>{"/x.so"}, "absolute path"),
        std::tuple("load", std::vector<std::string>{"instrument", "false", "x"},
                   "standard error")}) {
    const auto status = judge(*make_diagnostic(name, arguments),
                              {-1, arguments.size() == 3 ? "return code: 7" : "no\nreally not\n"});

    ASSERT_FALSE(status);
    EXPECT_NE(status.error().cure.find(cure), std::string::npos) << status.error().text();
    EXPECT_EQ(status.error().message.find("\\n"), std::string::npos) << status.error().text();
  }
}

TEST(Diagnostic, SaysWhereADumpWent) {
  EXPECT_NE(make_diagnostic("datadump", {})->note.find("standard output"), std::string::npos);
}

} // namespace
} // namespace jprof::jvm
