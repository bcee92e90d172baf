// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/cli/command.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// What both programs' command lines share: usage errors are exit 2 with one line, every failure is
// printed once as "PROGRAM: message" and "  cure", and with --json as one object on stdout.
namespace jprof::cli {

// A command's work. Returns the exit code (0, or e.g. 6 with a message already printed), or the
// Error that run() prints.
using Handler = std::function<base::Result<int>()>;

struct CommandText {
  std::string name;
  std::string summary;  // one line for the overview
  std::string examples; // whole lines, shown under "Examples:"
  // Not 0: what follows so many arguments that are no options belongs to somebody else, -x and all:
  // Program::rest().
  std::size_t own_arguments = 0;
  // Options of the command that it also takes back from the rest, up to a "--" that ends them. Only
  // such as nobody else has.
  std::vector<std::string> own_options{};
};

class Program {
 public:
  Program(std::string name, const std::string& summary);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Adds a command and returns it for its options, whose variables must live as long as the Program
  // (usually a shared_ptr captured by the handler). Every command gets --json and --help.
  Command add(const CommandText& text, Handler handler);
  // The command that is meant where none is named: `kubectl jprof POD` is `record POD`. Its options
  // may stand before the command's name as well: `kubectl jprof -n shop list`.
  void set_default_command(std::string name) { default_command_ = std::move(name); }
  const std::string& default_command() const { return default_command_; }
  std::vector<Command> commands() const;
  std::optional<Command> find(const std::string& name) const;
  // What a command with own_arguments was given behind them.
  const std::vector<std::string>& rest() const { return rest_; }
  // --json was given to the command that runs.
  bool json() const { return json_; }

  // Parses and runs; returns the process's exit code. Never throws.
  int run(int argc, char** argv);

 private:
  using Words = std::vector<std::string>;

  int run_selected(int argc, char** argv);
  int report(const base::Error& error) const;
  base::Error usage_error(std::string message, const Words& words) const;
  base::Error with_usual_cure(base::Error error, const Words& words) const;
  void name_command(Words& words) const;
  void cut_rest(Words& words);
  void take_back(const Command& command, Words& words);

  std::string name_;
  std::string default_command_;
  std::unique_ptr<CLI::App> app_;
  Handler selected_;
  std::map<std::string, std::size_t> own_arguments_;            // of the commands that have a rest
  std::map<std::string, std::vector<std::string>> own_options_; // of those that take some back
  std::vector<std::string> rest_;
  bool json_ = false;
  bool man_ = false;
};

// "message" with what terminals might obey made visible.
void print_error(const std::string& program, const base::Error& error);

} // namespace jprof::cli
