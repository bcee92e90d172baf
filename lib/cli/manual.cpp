// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/manual.h"

#include <CLI/CLI.hpp>

#include <array>
#include <cctype>
#include <string_view>

namespace jprof::cli {
namespace {

struct ExitCode {
  int code;
  std::string_view meaning;
};

constexpr std::array kExitCodes{
    ExitCode{0, "Success; also after Ctrl-C, if samples were kept."},
    ExitCode{2, "The command line or a configuration file is wrong, or an input is damaged."},
    ExitCode{3, "There is no such target, or it is not a JVM."},
    ExitCode{4, "Permission: RBAC, Pod Security, or the user id."},
    ExitCode{5, "The JVM refused."},
    ExitCode{6, "The capture is partial, and was kept."},
    ExitCode{7,
             "The capture was kept, but not stored where asked; or output could not be written."},
    ExitCode{8, "The cluster or the network failed."},
    ExitCode{9, "Busy, or refused by a limit."},
    ExitCode{70, "A bug in jprof."},
    ExitCode{130, "Interrupted, and nothing was kept."},
};

// Text as roff prints it: "-" is a minus that can be copied, and no line begins with a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

// "-o", "--output" and what the option takes: "TEXT", "{thread,pool}".
std::string names_of(const CLI::Option& option) {
  std::string out;
  const auto append = [&out](const std::string& name) {
    out += out.empty() ? "" : ", ";
    out += bold(name);
  };
  for (const std::string& name : option.get_snames()) {
    append("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    append("--" + name);
  }
  if (option.get_items_expected_max() > 0 && !option.get_type_name().empty()) {
    out += " " + italic(option.get_type_name());
  }
  return out;
}

std::string text_of(const CLI::Option& option) {
  std::string out = option.get_description();
  if (!option.get_default_str().empty()) {
    out += " (default: " + option.get_default_str() + ")";
  }
  if (!option.get_envname().empty()) {
    out += " (environment: " + option.get_envname() + ")";
  }
  return escaped(out);
}

void append_options(const CLI::App& app, std::string& out) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      out += ".TP\n" + italic(option->get_name(true)) + "\n" + text_of(*option) + "\n";
    }
  }
  for (const std::string& group : app.get_groups()) {
    std::string rows;
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional() && option->get_group() == group) {
        rows += ".TP\n" + names_of(*option) + "\n" + text_of(*option) + "\n";
      }
    }
    if (!rows.empty() && group != "Options") {
      out += ".PP\n" + bold(group) + "\n";
    }
    out += rows;
  }
}

// The footer of a command is "\nExamples:\n" and whole lines.
void append_examples(const CLI::App& command, std::string& out) {
  const std::string footer = command.get_footer();
  std::string_view lines = footer;
  const std::size_t begin = lines.find(":\n");
  if (begin == std::string_view::npos) {
    return;
  }
  lines.remove_prefix(begin + 2);
  while (lines.ends_with('\n')) {
    lines.remove_suffix(1);
  }
  out += ".PP\nExamples:\n.sp\n.nf\n" + escaped(lines) + "\n.fi\n";
}

std::string usage_of(const CLI::App& command) {
  std::string out = bold(command.get_name()) + " [\\fIoptions\\fR]";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      const std::string name = italic(option->get_name(true));
      const std::string list = option->get_items_expected_max() > 1 ? name + " ..." : name;
      out += option->get_required() ? " " + list : " [" + list + "]";
    }
  }
  return out;
}

} // namespace

std::string manual_of(const CLI::App& program, const std::string& default_command) {
  const std::string& name = program.get_name();
  std::string out = ".TH " + upper(name) + " 1 \"\" \"" + name + " " JPROF_VERSION + "\"\n";
  std::string summary = program.get_description();
  while (summary.ends_with('.')) {
    summary.pop_back();
  }
  out += ".SH NAME\n" + escaped(name) + " \\- " + escaped(summary) + "\n";
  out += ".SH SYNOPSIS\n" + bold(name) + " \\fIcommand\\fR [\\fIoptions\\fR]\n";
  if (!default_command.empty()) {
    out += ".PP\nWithout the name of a command, " + bold(default_command) + " is meant.\n";
  }
  out += ".SH COMMANDS\n";
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    out += ".SS " + usage_of(*command) + "\n" + escaped(command->get_description()) + ".\n";
    append_options(*command, out);
    append_examples(*command, out);
  }
  out += ".SH OPTIONS OF THE PROGRAM\n";
  append_options(program, out);
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& row : kExitCodes) {
    out += ".TP\n" + bold(std::to_string(row.code)) + "\n" + escaped(row.meaning) + "\n";
  }
  return out;
}

} // namespace jprof::cli
