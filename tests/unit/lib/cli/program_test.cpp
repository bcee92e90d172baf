// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"

#include <gtest/gtest.h>

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
      .add_option("target", target);
  program.set_default_command("record");

  EXPECT_EQ(run(program, {"p", "checkout-7d9f"}), 0);
  EXPECT_EQ(target, "checkout-7d9f");
}

TEST(Program, LeavesTheRestToWhomItBelongs) {
  Program program("p", "summary");
  std::string pid;
  std::string timeout;
  auto& command =
      program.add({.name = "ask", .summary = "asks", .examples = "", .own_arguments = 1},
                  [] { return base::Result<int>(0); });
  command.add_option("pid", pid)->required();
  command.add_option("--timeout", timeout);
  program.add({.name = "list", .summary = "lists", .examples = ""},
              [] { return base::Result<int>(1); });

  EXPECT_EQ(run(program, {"p", "ask", "--json", "--timeout", "5s", "7", "-live", "list", "--json"}),
            0);

  EXPECT_EQ(pid, "7");
  EXPECT_EQ(timeout, "5s");
  EXPECT_TRUE(program.json());
  EXPECT_EQ(program.rest(), (std::vector<std::string>{"-live", "list", "--json"}));
}

TEST(Program, SurvivesAForeignException) {
  Program program("p", "summary");
  program.add({.name = "go", .summary = "goes", .examples = ""},
              []() -> base::Result<int> { throw std::bad_alloc(); });

  EXPECT_EQ(run(program, {"p", "go"}), 70);
}

} // namespace
} // namespace jprof::cli
