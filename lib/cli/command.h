// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

// The options and arguments of a command. CLI11 reads them, and only this folder sees it: its
// header takes four seconds per file to compile, and each file that includes it builds its own
// copies of all validators when the program starts.
namespace jprof::cli {

// One option, to say more of it. A handle: cheap to copy, valid as long as the Program.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  // The heading that --help shows it under.
  Option& group(const std::string& heading);
  // The variable's value is used if the option is not given.
  Option& environment(const std::string& variable);
  // --help shows what the variable holds now.
  Option& show_default();
  // For a list: each value needs the option's name before it (-o a -o b).
  Option& repeated();
  Option& one_of(std::vector<std::string> words);
  // A whole number from least to most.
  Option& between(std::int64_t least, std::int64_t most);
  // A whole number above 0.
  Option& positive();

 private:
  Option& whole_number(std::int64_t least, std::int64_t most, const std::string& wanted,
                       const std::string& shown);

  CLI::Option* option_;
};

// Also a handle. Variables are written when the command line is read and must live as long as the
// Program.
// the Program.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  // `names` are "-o,--output", or "PID" for an argument by its place. T: std::string,
  // std::vector<std::string>, int, unsigned, std::uint64_t, double, std::optional<int>,
  // std::optional<std::int64_t>.
  template <typename T>
  Option option(const std::string& names, T& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  // A flag that may be given one of `words` after a `=`; `value` is set to the first one without
  // it, and is unchanged if the flag is not given.
  Option word_flag(const std::string& name, std::string& value, std::vector<std::string> words,
                   const std::string& help);

  // For completion.
  std::string name() const;
  bool takes_value(const std::string& flag) const; // "-n" or "--namespace"
  std::vector<std::string> long_flags() const;     // "--namespace"

 private:
  CLI::App* app_;
};

} // namespace jprof::cli
