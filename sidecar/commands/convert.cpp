// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/convert.h"

#include "lib/base/json.h"
#include "lib/cli/foreign_text.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"
#include "lib/formats/output_files.h"
#include "lib/render/left_out.h"
#include "sidecar/commands/shut_in.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace jprof::sidecar {
namespace {

using formats::Format;

constexpr std::array kAll{Format::kPage,     Format::kCollapsed, Format::kSvg,
                          Format::kTreeText, Format::kTreeJson,  Format::kRecording};

struct ConvertOptions {
  std::string input;
  std::vector<std::string> outputs;
  std::string to;
  std::string title;
  std::string threads;
  std::string event;
  bool lines = false;
};

// A recording keeps the lines that it has; everywhere else methods are what people look for first.
profile::FrameLines lines_of(const ConvertOptions& options,
                             const std::vector<formats::OutputFile>& outputs) {
  if (options.lines) {
    return profile::FrameLines::kShow;
  }
  const bool to_recording = std::ranges::all_of(outputs, [](const formats::OutputFile& output) {
    return output.format == Format::kRecording;
  });
  return to_recording ? profile::FrameLines::kKeep : profile::FrameLines::kMerge;
}

base::Result<int> convert(const ConvertOptions& options, bool json) {
  // All formats are checked before anything is read or written.
  JPROF_TRY_ASSIGN(const std::vector<formats::OutputFile> outputs,
                   formats::plan_outputs({options.outputs, options.to, json}, kAll));
  shut_in({options.input}, options.outputs);
  JPROF_TRY_ASSIGN(const profile::Profile profile,
                   formats::read_profile(options.input, lines_of(options, outputs)));
  const std::string name = options.input == "-" ? "standard input" : options.input;
  JPROF_TRY_ASSIGN(const profile::EventId event, formats::find_event(profile, options.event, name));
  const auto render = [&](Format format) {
    return formats::write_as(profile, format,
                             {.title = options.title,
                              .threads = formats::thread_roots(options.threads),
                              .event = event});
  };
  const bool all_events = std::ranges::all_of(
      outputs, [](const auto& output) { return output.format == Format::kRecording; });
  const std::vector<std::string> left_out =
      all_events ? render::left_out_of(profile) : render::left_out_of(profile, event);
  base::Json result = {
      {"ok", true}, {"samples", profile.event(event).total_count}, {"leftOut", left_out}};
  const int code = formats::exit_code_of(profile.info().damage, result);
  JPROF_TRY(formats::write_outputs(outputs, render, json ? &result : nullptr));
  for (const std::string& one : left_out) {
    cli::print_warning("jprof", name + ": " + one);
  }
  return code;
}

} // namespace

void add_convert(cli::Program& program) {
  auto options = std::make_shared<ConvertOptions>();
  cli::Command command = program.add(
      {.name = "convert",
       .summary = "Write a capture in other formats, by file ending",
       .examples = "  jprof convert capture.jprof -o capture.html -o capture.collapsed\n"
                   "  jprof convert capture.jprof | sort -rnk2     # folded stacks\n"
                   "  jprof convert capture.jprof --to txt | less  # the call tree\n"
                   "  perf script | jprof convert - -o perf.html\n"
                   "  jstack 4711 | jprof convert - -o threads.html\n"},
      [&program, options] { return convert(*options, program.json()); });
  command
      .option("IN", options->input,
              "A .jprof recording, folded text, output of perf script, thread dumps, "
              "speedscope's JSON, plain or compressed with gzip or zstd; - is standard input")
      .required();
  command
      .option("-o,--output", options->outputs,
              "File to write, repeatable; its ending gives the format: .html .svg .collapsed .txt "
              ".json .jprof; - or none is standard output")
      .repeated();
  command.option("--to", options->to,
                 "Format of standard output: collapsed (default) html svg txt json jprof");
  command.flag("--lines", options->lines,
               "Distinguish the lines of a method, where the recording knows them: Foo.bar:12");
  command.word_flag("--threads", options->threads, {"thread", "pool"}, formats::kThreadsHelp);
  command.option("--event", options->event, formats::kEventHelp);
  command.option("--title", options->title, "Title of pages and pictures");
}

} // namespace jprof::sidecar
