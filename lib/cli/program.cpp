// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"

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

int Program::run_selected(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!default_command_.empty() && !words.empty() && !words[0].empty() && words[0][0] != '-' &&
      !has_command(app_, words[0])) {
    words.insert(words.begin(), default_command_);
  }
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
