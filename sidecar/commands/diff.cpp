// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/diff.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/formats/format_diff.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace jprof::sidecar {
namespace {

struct DiffCommand {
  std::string base;
  std::string changed;
  std::vector<std::string> outputs;
  formats::DiffOptions options;
};

base::Result<int> diff(const DiffCommand& command, bool json) {
  JPROF_TRY_ASSIGN(const profile::Profile base, formats::read_any_file(command.base));
  JPROF_TRY_ASSIGN(const profile::Profile changed, formats::read_any_file(command.changed));
  if (command.outputs.empty()) {
    JPROF_TRY_ASSIGN(const std::string text,
                     formats::diff_as(base, changed, formats::Format::kCollapsed, command.options));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  base::Json files = base::Json::array();
  for (const std::string& output : command.outputs) {
    JPROF_TRY_ASSIGN(const formats::Format format, formats::format_of(output));
    JPROF_TRY_ASSIGN(const std::string bytes,
                     formats::diff_as(base, changed, format, command.options));
    JPROF_TRY(base::write_file_atomically(output, bytes, 0644));
    files.push_back({{"file", output}, {"bytes", bytes.size()}});
    if (!json) {
      std::printf("%s  %zu bytes\n", base::printable(output, 4096).c_str(), bytes.size());
    }
  }
  if (json) {
    const base::Json result = {{"ok", true}, {"files", std::move(files)}};
    std::printf("%s\n", base::dump_json(result).c_str());
  }
  return 0;
}

} // namespace

void add_diff(cli::Program& program) {
  auto command = std::make_shared<DiffCommand>();
  CLI::App& app =
      program.add({.name = "diff",
                   .summary = "Show what changed between two captures",
                   .examples = "  jprof diff yesterday.jprof today.jprof -o diff.html\n"
                               "  jprof diff -n a.collapsed b.collapsed -o diff.svg\n"
                               "  jprof diff a.collapsed b.collapsed | jprof flame > diff.svg\n"},
                  [&program, command] { return diff(*command, program.json()); });
  app.add_option("BASE", command->base, "The older capture, in any format that convert reads")
      ->required();
  app.add_option("CHANGED", command->changed, "What it is compared with")->required();
  app.add_option("-o,--output", command->outputs,
                 "File to write, may be repeated: .html .svg .collapsed; without it folded text "
                 "with two counts goes to standard output");
  app.add_flag("-n,--normalize", command->options.normalize,
               "Scale the base's counts to the total of the other (.svg, .collapsed; the page "
               "always compares shares)");
  app.add_flag("-s,--strip-hex", command->options.strip_hex,
               "Addresses in names become 0x... (.svg, .collapsed)");
  app.add_flag("--negate", command->options.negate, "Swap the colours of more and less (.svg)");
  app.add_option("--title", command->options.title, "Title of pages and pictures");
}

} // namespace jprof::sidecar
