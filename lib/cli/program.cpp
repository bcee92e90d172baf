// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace jprof::cli {
namespace {

constexpr std::size_t kLongestLine = 4096;

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

bool has_command(const CLI::App& app, const std::string& name) {
  const auto commands =
      app.get_subcommands([&name](const CLI::App* command) { return command->get_name() == name; });
  return !commands.empty();
}

// Whether an option's value is the next word: not for a flag, --name=value, -nvalue.
bool takes_next_word(const CLI::App& command, const std::string& word) {
  const bool is_long = word.starts_with("--");
  const std::string name = word.substr(0, is_long ? word.find('=') : 2);
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_min() > 0 && name == word;
}

} // namespace

void print_error(const std::string& program, const base::Error& error) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(),
               base::printable(error.message, kLongestLine).c_str());
  if (!error.cure.empty()) {
    std::fprintf(stderr, "  %s\n", base::printable(error.cure, kLongestLine).c_str());
  }
}

Program::Program(std::string name, std::string summary)
    : name_(std::move(name)), app_(std::move(summary), name_) {
  app_.require_subcommand(0, 1);
  app_.set_version_flag("--version", name_ + " " JPROF_VERSION);
  app_.get_formatter()->column_width(34);
}

CLI::App& Program::add(const CommandText& text, Handler handler) {
  CLI::App* command = app_.add_subcommand(text.name, text.summary);
  if (!text.examples.empty()) {
    command->footer("\nExamples:\n" + text.examples);
  }
  command->add_flag("--json", json_, "Print the result, or the failure, as one JSON object");
  if (text.own_arguments > 0) {
    own_arguments_[text.name] = text.own_arguments;
  }
  command->callback([this, handler = std::move(handler)] { selected_ = handler; });
  return *command;
}

int Program::report(const base::Error& error) const {
  if (json_) {
    std::printf("%s\n", base::dump_json(error_object(error)).c_str());
  } else {
    print_error(name_, error);
  }
  return base::exit_code(error.code);
}

// CLI11's own way (prefix_command) still looks for options and names of commands in there.
void Program::cut_rest(std::vector<std::string>& words) {
  const auto found = words.empty() ? own_arguments_.end() : own_arguments_.find(words[0]);
  if (found == own_arguments_.end()) {
    return;
  }
  const CLI::App* command = app_.get_subcommand(words[0]);
  std::size_t at = 1;
  for (std::size_t own = 0; at < words.size() && own < found->second; ++at) {
    const std::string& word = words[at];
    if (word.size() < 2 || word[0] != '-') {
      ++own;
    } else if (takes_next_word(*command, word)) {
      ++at;
    }
  }
  at = std::min(at, words.size());
  rest_.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  words.resize(at);
}

int Program::run_selected(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!default_command_.empty() && !words.empty() && !words[0].empty() && words[0][0] != '-' &&
      !has_command(app_, words[0])) {
    words.insert(words.begin(), default_command_);
  }
  cut_rest(words);
  std::vector<std::string> reversed(words.rbegin(), words.rend()); // what CLI11 wants
  try {
    app_.parse(reversed);
  } catch (const CLI::Success& e) {
    return app_.exit(e); // --help, --version
  } catch (const CLI::ParseError& e) {
    return report(
        base::make_error(base::ErrorCode::kUsage, e.what(), "see '" + name_ + " --help'"));
  }
  if (!selected_) {
    std::fputs(app_.help().c_str(), stdout);
    return words.empty() ? 0 : base::exit_code(base::ErrorCode::kUsage);
  }
  const base::Result<int> result = selected_();
  return result ? *result : report(result.error());
}

int Program::run(int argc, char** argv) {
  // The last resort: nothing of ours throws, but a library or the allocator may.
  try {
    return run_selected(argc, argv);
  } catch (const std::exception& e) {
    return report(base::make_error(base::ErrorCode::kInternal,
                                   std::string("unexpected failure: ") + e.what(),
                                   "this is a bug in jprof: please report it"));
  }
}

} // namespace jprof::cli
