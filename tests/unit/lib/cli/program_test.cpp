// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

namespace jprof::cli {
namespace {

int run(Program& program, std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  return program.run(static_cast<int>(argv.size()), argv.data());
}

TEST(Program, RunsTheNamedCommand) {
  Program program("p", "summary");
  int runs = 0;
  program.add({.name = "go", .summary = "goes", .examples = ""}, [&] {
    ++runs;
    return base::Result<int>(0);
  });

  EXPECT_EQ(run(program, {"p", "go"}), 0);
  EXPECT_EQ(runs, 1);
}

TEST(Program, NamesACureForEachMistakeOfTheCallers) {
  Program program("p", "summary");
  base::Error error;
  program.add({.name = "go", .summary = "goes", .examples = ""},
              [&error]() -> base::Result<int> { return base::fail(base::Error(error)); });
  const auto said = [&](base::ErrorCode code, const char* cure) {
    error = base::make_error(code, "no", cure);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run(program, {"p", "go"}), 2);
    return ::testing::internal::GetCapturedStderr();
  };

  EXPECT_EQ(said(base::ErrorCode::kUsage, ""), "p: no\n  see 'p go --help'\n");
  EXPECT_EQ(said(base::ErrorCode::kUsage, "yes"), "p: no\n  yes\n");
  EXPECT_EQ(said(base::ErrorCode::kConfigInvalid, ""),
            "p: no\n  correct it there, or name another file\n");
}

TEST(Program, TurnsAnErrorIntoItsExitCode) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "goes", .examples = ""}, []() -> base::Result<int> {
    return base::make_failure(base::ErrorCode::kTargetNotFound, "no such pod", "look again");
  });

  EXPECT_EQ(run(program, {"p", "go"}), 3);
}

TEST(Program, CallsAnUnknownOptionAUsageError) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "goes", .examples = ""},
              [] { return base::Result<int>(0); });

  EXPECT_EQ(run(program, {"p", "go", "--nope"}), 2);
  EXPECT_EQ(run(program, {"p", "nope"}), 2);
}

TEST(Program, GivesABareWordToTheDefaultCommand) {
  Program program("p", "summary");
  std::string target;
  program
      .add({.name = "record", .summary = "records", .examples = ""},
           [] { return base::Result<int>(0); })
      .option("target", target, "");
  program.set_default_command("record");

  EXPECT_EQ(run(program, {"p", "checkout-7d9f"}), 0);
  EXPECT_EQ(target, "checkout-7d9f");
}

TEST(Program, LeavesTheRestToWhomItBelongs) {
  Program program("p", "summary");
  std::string pid;
  std::string timeout;
  auto command = program.add({.name = "ask", .summary = "asks", .examples = "", .own_arguments = 1},
                             [] { return base::Result<int>(0); });
  command.option("pid", pid, "").required();
  command.option("--timeout", timeout, "");
  program.add({.name = "list", .summary = "lists", .examples = ""},
              [] { return base::Result<int>(1); });

  EXPECT_EQ(run(program, {"p", "ask", "--json", "--timeout", "5s", "7", "-live", "list", "--json"}),
            0);

  EXPECT_EQ(pid, "7");
  EXPECT_EQ(timeout, "5s");
  EXPECT_TRUE(program.json());
  EXPECT_EQ(program.rest(), (std::vector<std::string>{"-live", "list", "--json"}));
}

TEST(Program, TakesItsOptionsBackFromTheRest) {
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> rest;
    std::string space;
  };
  for (const Case& one : std::vector<Case>{
           {{"7", "dump", "-n", "shop"}, {}, "shop"},
           {{"7", "dump", "-l", "-n", "shop", "-e"}, {"-l", "-e"}, "shop"},
           {{"7", "dump", "--space=shop", "x"}, {"x"}, "shop"},
           {{"-n", "shop", "7", "dump", "-x"}, {"-x"}, "shop"},
           {{"7", "dump", "--", "-n", "shop"}, {"-n", "shop"}, ""},
           {{"7", "dump", "-n", "shop", "--", "--", "-n"}, {"--", "-n"}, "shop"},
           {{"7", "dump", "-s", "y"}, {"-s", "y"}, ""},
           {{"7", "dump", "n", "-nshop"}, {"n", "-nshop"}, ""},
       }) {
    Program program("p", "summary");
    std::string pid;
    std::string name;
    std::string space;
    std::string server;
    auto command = program.add({.name = "ask",
                                .summary = "asks",
                                .examples = "",
                                .own_arguments = 2,
                                .own_options = {"-n", "--space"}},
                               [] { return base::Result<int>(0); });
    command.option("pid", pid, "").required();
    command.option("name", name, "").required();
    command.option("-n,--space", space, "");
    command.option("-s", server, "");
    std::vector<std::string> words = {"p", "ask"};
    words.insert(words.end(), one.words.begin(), one.words.end());

    EXPECT_EQ(run(program, words), 0);
    EXPECT_EQ(pid, "7");
    EXPECT_EQ(name, "dump");
    EXPECT_EQ(space, one.space);
    EXPECT_EQ(server, "");
    EXPECT_EQ(program.rest(), one.rest);
  }
}

TEST(Program, WantsTheValueOfAnOptionBehindTheRest) {
  Program program("p", "summary");
  std::string pid;
  std::string space;
  auto command = program.add(
      {.name = "ask", .summary = "", .examples = "", .own_arguments = 1, .own_options = {"-n"}},
      [] { return base::Result<int>(0); });
  command.option("pid", pid, "").required();
  command.option("-n", space, "");

  EXPECT_EQ(run(program, {"p", "ask", "7", "-n"}), 2);
}

TEST(Program, TakesOptionsBeforeTheCommandsName) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"p", "-n", "shop", "list", "pod"},
           {"p", "--namespace=shop", "list", "pod"},
           {"p", "list", "-n", "shop", "pod"},
       }) {
    Program program("p", "summary");
    std::string space;
    std::string target;
    for (const char* name : {"record", "list"}) {
      auto command = program.add({.name = name, .summary = "", .examples = ""},
                                 [name] { return base::Result<int>(name[0] == 'l' ? 0 : 1); });
      command.option("-n,--namespace", space, "");
      command.option("target", target, "");
    }
    program.set_default_command("record");

    EXPECT_EQ(run(program, words), 0);
    EXPECT_EQ(space, "shop");
    EXPECT_EQ(target, "pod");
  }
}

TEST(Program, GivesOptionsWithoutACommandToTheDefaultOne) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"p", "-n", "shop", "checkout"}, {"p", "-n", "list", "checkout"}, {"p", "-n", "shop"}}) {
    Program program("p", "summary");
    std::string space;
    std::string target;
    auto record = program.add({.name = "record", .summary = "", .examples = ""},
                              [] { return base::Result<int>(0); });
    record.option("-n", space, "");
    record.option("target", target, "");
    program.add({.name = "list", .summary = "", .examples = ""},
                [] { return base::Result<int>(1); });
    program.set_default_command("record");

    EXPECT_EQ(run(program, words), 0);
    EXPECT_EQ(space, words[2]);
    EXPECT_EQ(target, words.size() > 3 ? words[3] : "");
  }
}

TEST(Program, SaysWhatIsWrongWithANumber) {
  for (const char* word : {"0", "-1", "abc", "7x", "", "9223372036854775808", "1.5"}) {
    Program program("p", "summary");
    int pid = 0;
    program.add({.name = "ask", .summary = "", .examples = ""}, [] { return base::Result<int>(0); })
        .option("PID", pid, "")
        .positive();

    testing::internal::CaptureStderr();
    EXPECT_EQ(run(program, {"p", "ask", "--", word}), 2) << word;
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "p: PID: '" + std::string(word) +
                  "' is not a whole number above 0\n  see 'p ask --help'\n");
  }
}

TEST(Program, NamesWhatItDidNotExpectInItsOrder) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "", .examples = ""}, [] { return base::Result<int>(0); });

  testing::internal::CaptureStderr();
  EXPECT_EQ(run(program, {"p", "go", "a", "--b", "c"}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "p: not expected: a --b c\n  see 'p go --help'\n");
}

TEST(Program, SurvivesAForeignException) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "goes", .examples = ""},
              []() -> base::Result<int> { throw std::runtime_error("no"); });

  EXPECT_EQ(run(program, {"p", "go"}), 70);
}

TEST(Program, CallsALackOfMemoryALimit) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "goes", .examples = ""},
              []() -> base::Result<int> { throw std::bad_alloc(); });

  EXPECT_EQ(run(program, {"p", "go"}), 9);
}

} // namespace
} // namespace jprof::cli
