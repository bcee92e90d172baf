// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/base/out_of_memory.h"
#include "lib/cli/manual.h"
#include "lib/cli/standard_output.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace jprof::cli {
namespace {

constexpr std::size_t kMaxLineLength = 4096;

base::Json error_object(const base::Error& error) {
  base::Json object = {{"ok", false},
                       {"exitCode", base::exit_code(error.code)},
                       {"reason", base::reason_word(error.code)},
                       {"message", error.message}};
  if (!error.cure.empty()) {
    object["cure"] = error.cure;
  }
  return object;
}

// The place after the option at `at`, and after its value if that is the next word: not for a flag,
// --name=value, -nvalue.
std::size_t behind_option(const Command& command, const std::vector<std::string>& words,
                          std::size_t at) {
  return at + (command.takes_value(words[at]) ? 2 : 1);
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

} // namespace

void print_error(const std::string& program, const base::Error& error) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(),
               base::printable(error.message, kMaxLineLength).c_str());
  if (!error.cure.empty()) {
    std::fprintf(stderr, "  %s\n", base::printable(error.cure, kMaxLineLength).c_str());
  }
}

Program::Program(std::string name, const std::string& summary)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(summary, name_)) {
  app_->require_subcommand(0, 1);
  app_->set_version_flag("--version", name_ + " " JPROF_VERSION);
  app_->add_flag("--man", man_, "Print the manual as a man page: " + name_ + " --man | man -l -");
  app_->get_formatter()->column_width(34);
}

Program::~Program() = default;

Command Program::add(const CommandText& text, Handler handler) {
  CLI::App* command = app_->add_subcommand(text.name, text.summary);
  if (!text.examples.empty()) {
    command->footer("\nExamples:\n" + text.examples);
  }
  command->add_flag("--json", json_, "Print the result, or the failure, as one JSON object");
  if (text.own_arguments > 0) {
    own_arguments_[text.name] = text.own_arguments;
    own_options_[text.name] = text.own_options;
  }
  command->callback([this, handler = std::move(handler)] { selected_ = handler; });
  return Command(*command);
}

std::vector<Command> Program::commands() const {
  std::vector<Command> out;
  for (CLI::App* command : app_->get_subcommands(nullptr)) {
    out.emplace_back(*command);
  }
  return out;
}

std::optional<Command> Program::find(const std::string& name) const {
  const std::vector<Command> all = commands();
  const auto found = std::find_if(
      all.begin(), all.end(), [&name](const Command& command) { return command.name() == name; });
  return found == all.end() ? std::nullopt : std::optional<Command>(*found);
}

int Program::report(const base::Error& error) const {
  if (json_) {
    std::printf("%s\n", base::dump_json(error_object(error)).c_str());
  }
  // A failure that its place does not take is told where people look.
  if (!json_ || !finish_standard_output()) {
    print_error(name_, error);
  }
  return base::exit_code(error.code);
}

base::Error Program::usage_error(std::string message, const Words& words) const {
  const bool in_command = !words.empty() && find(words[0]);
  return base::make_error(base::ErrorCode::kUsage, std::move(message),
                          "see '" + name_ + (in_command ? " " + words[0] : "") + " --help'");
}

// No mistake of the caller's is reported without what to do about it, wherever it was found.
base::Error Program::with_usual_cure(base::Error error, const Words& words) const {
  if (!error.cure.empty()) {
    return error;
  }
  if (error.code == base::ErrorCode::kUsage) {
    return usage_error(std::move(error.message), words);
  }
  if (error.code == base::ErrorCode::kConfigInvalid) {
    error.cure = "correct it there, or name another file";
  }
  return error;
}

// The command becomes the first word: the default one if none is named.
void Program::name_command(Words& words) const {
  const std::optional<Command> meant = find(default_command_);
  const bool asks_program = words.empty() || words[0] == "--help" || words[0] == "-h" ||
                            words[0] == "--version" || words[0] == "--man" || words[0].empty();
  if (!meant || asks_program) {
    return;
  }
  std::size_t at = 0;
  while (at < words.size() && is_option(words[at])) {
    at = behind_option(*meant, words, at);
  }
  if (at < words.size() && find(words[at])) {
    const auto named = words.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(words.begin(), named, named + 1);
  } else {
    words.insert(words.begin(), default_command_);
  }
}

// CLI11's own way (prefix_command) still looks for options and names of commands in there.
void Program::cut_rest(Words& words) {
  const auto found = words.empty() ? own_arguments_.end() : own_arguments_.find(words[0]);
  if (found == own_arguments_.end()) {
    return;
  }
  const std::optional<Command> command = find(words[0]);
  std::size_t at = 1;
  for (std::size_t own = 0; at < words.size() && own < found->second;) {
    if (is_option(words[at])) {
      at = behind_option(*command, words, at);
    } else {
      ++own;
      ++at;
    }
  }
  at = std::min(at, words.size());
  rest_.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  words.resize(at);
  take_back(*command, words);
}

// Options of ours that were typed after the words of somebody else.
void Program::take_back(const Command& command, Words& words) {
  const std::vector<std::string>& own = own_options_[words[0]];
  Words theirs;
  std::size_t at = 0;
  for (; at < rest_.size() && rest_[at] != "--"; ++at) {
    const std::string name = rest_[at].substr(0, rest_[at].find('='));
    if (std::find(own.begin(), own.end(), name) == own.end()) {
      theirs.push_back(rest_[at]);
      continue;
    }
    // After the name of the command, where an option may stand in any case.
    auto place = words.insert(words.begin() + 1, rest_[at]) + 1;
    if (name == rest_[at] && command.takes_value(name) && at + 1 < rest_.size()) {
      words.insert(place, rest_[++at]);
    }
  }
  if (at < rest_.size() && !own.empty()) {
    ++at; // the "--" is ours
  }
  theirs.insert(theirs.end(), rest_.begin() + static_cast<std::ptrdiff_t>(at), rest_.end());
  rest_ = std::move(theirs);
}

int Program::run_selected(int argc, char** argv) {
  Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
  name_command(words);
  cut_rest(words);
  Words reversed(words.rbegin(), words.rend()); // what CLI11 wants
  try {
    app_->parse(reversed);
  } catch (const CLI::Success& e) {
    return app_->exit(e); // --help, --version
  } catch (const CLI::ExtrasError&) {
    // Its own text has them backwards.
    std::string extra;
    for (const std::string& word : app_->remaining(true)) {
      extra += " " + word;
    }
    return report(usage_error("not expected:" + extra, words));
  } catch (const CLI::ParseError& e) {
    return report(usage_error(e.what(), words));
  }
  if (man_) {
    std::fputs(manual_of(*app_, default_command_).c_str(), stdout);
    return 0;
  }
  if (!selected_) {
    std::fputs(app_->help().c_str(), stdout);
    return words.empty() ? 0 : base::exit_code(base::ErrorCode::kUsage);
  }
  base::Result<int> result = selected_();
  return result ? *result : report(with_usual_cure(std::move(result).error(), words));
}

int Program::run(int argc, char** argv) {
  occupy_standard_descriptors();
  const int code = [&] {
    // The last resort: nothing of ours throws, but a library or the allocator may.
    try {
      return run_selected(argc, argv);
    } catch (const std::bad_alloc&) {
      return report(base::out_of_memory());
    } catch (const std::exception& e) {
      return report(base::make_error(base::ErrorCode::kInternal,
                                     std::string("unexpected failure: ") + e.what(),
                                     "this is a bug in jprof: please report it"));
    }
  }();
  // A success that nobody could read is not one.
  const base::Status written = finish_standard_output();
  if (written) {
    return code;
  }
  print_error(name_, written.error());
  return code == 0 ? base::exit_code(written.error().code) : code;
}

} // namespace jprof::cli
