// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/convert.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace jprof::sidecar {
namespace {

struct ConvertOptions {
  std::string input;
  std::vector<std::string> outputs;
  std::string title;
};

base::Result<int> convert(const ConvertOptions& options, bool json) {
  // All formats are known before anything is read or written.
  std::vector<formats::Format> wanted;
  for (const std::string& output : options.outputs) {
    JPROF_TRY_ASSIGN(const formats::Format format, formats::format_of(output));
    wanted.push_back(format);
  }
  JPROF_TRY_ASSIGN(const profile::Profile profile, formats::read_any_file(options.input));
  base::Json files = base::Json::array();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    JPROF_TRY_ASSIGN(const std::string bytes,
                     formats::write_as(profile, wanted[i], {.title = options.title}));
    JPROF_TRY(base::write_file_atomically(options.outputs[i], bytes, 0644));
    files.push_back({{"file", options.outputs[i]}, {"bytes", bytes.size()}});
    if (!json) {
      std::printf("%s  %zu bytes\n", base::printable(options.outputs[i], 4096).c_str(),
                  bytes.size());
    }
  }
  if (json) {
    const base::Json result = {
        {"ok", true}, {"samples", profile.total_count()}, {"files", std::move(files)}};
    std::printf("%s\n", base::dump_json(result).c_str());
  }
  return 0;
}

} // namespace

void add_convert(cli::Program& program) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App& command = program.add(
      {.name = "convert",
       .summary = "Write a capture in other formats, by file ending",
       .examples = "  jprof convert capture.jprof -o capture.html -o capture.collapsed\n"
                   "  perf script | jprof convert - -o perf.html\n"},
      [&program, options] { return convert(*options, program.json()); });
  command
      .add_option("IN", options->input,
                  "A .jprof recording, folded text, output of perf script, thread dumps, "
                  "speedscope's JSON; - is standard input")
      ->required();
  command
      .add_option("-o,--output", options->outputs,
                  "File to write, may be repeated; its ending gives the format: .html .svg "
                  ".collapsed .txt .json .jprof")
      ->required();
  command.add_option("--title", options->title, "Title of pages and pictures");
}

} // namespace jprof::sidecar
