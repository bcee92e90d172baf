// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/diff.h"

#include "lib/base/json.h"
#include "lib/cli/foreign_text.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/format_diff.h"
#include "lib/formats/output_files.h"
#include "sidecar/commands/shut_in.h"

#include <memory>
#include <string>
#include <vector>

namespace jprof::sidecar {
namespace {

struct DiffCommand {
  std::string base;
  std::string changed;
  std::vector<std::string> outputs;
  std::string to;
  formats::DiffOptions options;
};

base::Result<int> diff(const DiffCommand& command, bool json) {
  JPROF_TRY_ASSIGN(
      const std::vector<formats::OutputFile> outputs,
      formats::plan_outputs({command.outputs, command.to, json}, formats::kDiffFormats));
  shut_in({command.base, command.changed}, command.outputs);
  JPROF_TRY_ASSIGN(const formats::Input base, formats::read_input(command.base));
  JPROF_TRY_ASSIGN(const formats::Input changed, formats::read_input(command.changed));
  formats::DiffTold told;
  int code = 0;
  base::Json result = {{"ok", true}};
  const auto render = [&](formats::Format format) {
    auto bytes = formats::diff_as(base, changed, format, command.options, told);
    result["leftOut"] = told.left_out;
    code = formats::exit_code_of(told.damage, result);
    return bytes;
  };
  JPROF_TRY(formats::write_outputs(outputs, render, json ? &result : nullptr));
  for (const std::string& one : told.left_out) {
    cli::print_warning("jprof", one);
  }
  return code;
}

} // namespace

void add_diff(cli::Program& program) {
  auto command = std::make_shared<DiffCommand>();
  cli::Command app =
      program.add({.name = "diff",
                   .summary = "Show what changed between two captures",
                   .examples = "  jprof diff yesterday.jprof today.jprof -o diff.html\n"
                               "  jprof diff -n a.collapsed b.collapsed -o diff.svg\n"
                               "  jprof diff a.collapsed b.collapsed | jprof flame > diff.svg\n"},
                  [&program, command] { return diff(*command, program.json()); });
  app.option("BASE", command->base, "The older capture, in any format that convert reads")
      .required();
  app.option("CHANGED", command->changed, "The newer capture, compared with the older one")
      .required();
  app.option("-o,--output", command->outputs,
             "File to write, repeatable: .html .svg .collapsed; - or none is standard output")
      .repeated();
  app.option("--to", command->to,
             "Format of standard output: collapsed (default), folded text with two counts; html "
             "svg");
  app.flag("-n,--normalize", command->options.normalize,
           "Scale the base's counts to the total of the other (.svg, .collapsed; the page "
           "always compares shares)");
  app.flag("-s,--strip-hex", command->options.strip_hex,
           "Addresses in names become 0x... (.svg, .collapsed)");
  app.flag("--negate", command->options.negate, "Swap the colours of more and less (.svg)");
  app.option("--event", command->options.event, formats::kEventHelp);
  app.option("--title", command->options.title, "Title of pages and pictures");
}

} // namespace jprof::sidecar
