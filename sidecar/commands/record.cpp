// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/record.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/base/out_of_memory.h"
#include "lib/base/timestamp.h"
#include "lib/base/together.h"
#include "lib/capture/progress_text.h"
#include "lib/capture/summary.h"
#include "lib/cli/progress_line.h"
#include "lib/formats/format_writer.h"
#include "sidecar/commands/capture_options.h"
#include "sidecar/commands/record_outputs.h"
#include "sidecar/commands/stop_on_signal.h"
#include "sidecar/record/capture_job.h"
#include "sidecar/record/capture_outcome.h"
#include "sidecar/record/capture_progress.h"
#include "sidecar/record/work_directory.h"
#include "sidecar/sandbox/sandbox.h"

#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::sidecar {
namespace {

using record::CaptureOutcome;

constexpr std::size_t kMaxPathBytes = 4096;

struct RecordOptions {
  CaptureOptions capture{.duration = "10s"};
  std::string event = "cpu";
  std::string engine = "auto";
  std::string walker = "vmstructs";
  std::string max_overhead = "2%";
  std::string title;
  std::string threads;
  std::vector<std::string> outputs;
  bool verbose = false;
};

// "2%", "0.5": a percentage in steps of a tenth, as permille.
base::Result<std::uint32_t> parse_overhead(std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  const auto point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view tenth = point == std::string_view::npos ? "0" : number.substr(point + 1);
  const std::string digits = std::string(whole) + std::string(tenth);
  std::uint32_t permille = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), permille);
  if (whole.empty() || tenth.size() != 1 || error != std::errc{} ||
      end != digits.data() + digits.size() || permille > 1000) {
    return base::make_failure(base::ErrorCode::kUsage, "'" + std::string(text) + "' is no overhead",
                              "give a percentage of the JVM's CPU time, such as 2% or 0.5%; 0 "
                              "switches the limit off");
  }
  return permille;
}

base::Result<record::CaptureRequest> make_request(const RecordOptions& options,
                                                  RecordOutputs& outputs) {
  JPROF_TRY_ASSIGN(record::CaptureRequest request, request_of(options.capture));
  request.event = options.event;
  request.engine = options.engine;
  request.walker = options.walker;
  JPROF_TRY_ASSIGN(request.max_overhead_permille, parse_overhead(options.max_overhead));
  request.title = options.title;
  request.threads = options.threads;
  request.formats = outputs.formats();
  request.take_derived = [&outputs](const std::string& ending, std::string_view bytes) {
    return outputs.write(ending, bytes);
  };
  JPROF_TRY_ASSIGN(request.directory, record::WorkDirectory::name_in(outputs.first_folder()));
  request.sandbox = true;
  JPROF_TRY_ASSIGN(request.writable, outputs.check_places()); // before a minute is spent on it
  return request;
}

// Elsewhere than on a terminal, and with --json, only the result is printed.
cli::ProgressLine::Mode progress_mode(bool json) {
  using Mode = cli::ProgressLine::Mode;
  return !json && cli::ProgressLine::mode_of_stderr() == Mode::kTerminal ? Mode::kTerminal
                                                                         : Mode::kSilent;
}

base::Json report_json(const CaptureOutcome& outcome, const RecordOutputs& outputs,
                       const std::optional<base::Error>& failed) {
  base::Json object = capture::measured_json(record::measured_of(outcome));
  object["ok"] = outcome.exit_code() == 0;
  object["exitCode"] = outcome.exit_code();
  object["startTime"] = base::format_utc(outcome.start);
  object["partial"] = outcome.partial;
  if (outcome.partial) {
    object["reason"] = base::reason_word(base::ErrorCode::kPartialCapture);
    object["partialReason"] = outcome.partial_reason;
    object["cure"] = outcome.cure;
  }
  if (failed) {
    object["reason"] = base::reason_word(failed->code);
    object["message"] = failed->message;
    object["cure"] = failed->cure;
  }
  base::Json& files = object["files"] = base::Json::array();
  for (const std::string& path : outputs.written()) {
    files.push_back({{"path", path}});
    for (const record::CapturedFile& file : outcome.files) {
      if (path.ends_with("." + file.format)) {
        files.back().update(
            {{"format", file.format}, {"bytes", file.bytes}, {"sha256", file.sha256}});
      }
    }
  }
  return object;
}

void print_report(const CaptureOutcome& outcome, const RecordOutputs& outputs,
                  capture::Detail detail) {
  if (outcome.partial) {
    std::printf("  partial   %s\n", base::printable(outcome.partial_reason).c_str());
    if (!outcome.cure.empty()) {
      std::printf("  cure      %s\n", base::printable(outcome.cure, kMaxPathBytes).c_str());
    }
  }
  capture::Measured measured = record::measured_of(outcome);
  measured.file_errors.clear(); // the failure tells of them
  std::fputs(capture::summary_text(measured, detail).c_str(), stdout);
  for (const std::string& path : outputs.written()) {
    std::printf("%s\n", base::printable(path, kMaxPathBytes).c_str());
  }
}

// Everything that was not written, with its cause, and where the recording is.
base::Error not_stored(CaptureOutcome& outcome, const RecordOutputs& outputs,
                       record::WorkDirectory& work) {
  const std::vector<base::Error> errors = outputs.errors();
  outcome.file_errors.insert(outcome.file_errors.end(), errors.begin(), errors.end());
  base::Error error = base::together(outcome.file_errors);
  for (const std::string& path : outputs.untried()) {
    error.message += "; " + path + " could not be made";
  }
  error.code = base::ErrorCode::kNotStored;
  error.cure = outputs.keep_recording(work, outcome.recording.get());
  return error;
}

base::Error kept_in(base::Error error, const std::string& directory) {
  error.code = base::ErrorCode::kNotStored;
  error.cure = "the capture is kept in " + directory + ": write it elsewhere by jprof convert " +
               directory + "/" + record::kRecordingFile + " -o FILE";
  return error;
}

// Prints what there is to say and gives the exit code.
base::Result<int> finish(CaptureOutcome& outcome, RecordOutputs& outputs,
                         record::WorkDirectory& work, capture::Detail detail, bool json) {
  outputs.write_recording(work, outcome.recording.get());
  std::optional<base::Error> failed;
  if (!outcome.file_errors.empty() || !outputs.all_written()) {
    failed = not_stored(outcome, outputs, work);
  }
  if (json) {
    std::printf("%s\n", base::dump_json(report_json(outcome, outputs, failed)).c_str());
    return outcome.exit_code();
  }
  print_report(outcome, outputs, detail);
  if (failed) {
    return base::fail(std::move(*failed));
  }
  return outcome.exit_code();
}

// A recorder that meets its limit of memory has written all that it had drained but the last.
base::Result<CaptureOutcome> capture_within_memory(const record::CaptureRequest& request,
                                                   const record::ProgressCallback& progress,
                                                   std::stop_token stop) {
  try {
    return record::run_capture(request, progress, std::move(stop));
  } catch (const std::bad_alloc&) {
    return base::fail(base::out_of_memory().with_context("the recorder was stopped"));
  }
}

base::Result<int> run_record(RecordOptions options, bool json) {
  JPROF_TRY(need_open_files());
  if (options.outputs.empty()) {
    options.outputs.push_back("jprof-" + std::to_string(std::time(nullptr)) + ".html");
  }
  JPROF_TRY_ASSIGN(RecordOutputs outputs, RecordOutputs::plan(options.outputs));
  JPROF_TRY_ASSIGN(const record::CaptureRequest request, make_request(options, outputs));
  if (options.walker != "vmstructs" && request.leave_behind) {
    tell_what_stays("walkers such as " + base::printable(options.walker));
  }
  JPROF_TRY(limit_memory());
  sandbox::fence_in(sandbox::Network::kNone); // run_capture() says what is missing
  tell_of_abandoned(outputs.first_folder());
  StopOnSignal signals("the recording is being finished",
                       "leaves what there is in " +
                           base::printable(request.directory, kMaxPathBytes));
  JPROF_TRY_ASSIGN(record::WorkDirectory work, record::WorkDirectory::make(request.directory));
  cli::ProgressLine line(progress_mode(json), 1);
  const auto show = [&line](const record::CaptureProgress& progress) {
    const bool recording = progress.phase == record::CapturePhase::kRecording;
    line.update(0, "", record::progress_text(progress),
                recording ? capture::part_of(progress.elapsed, progress.duration) : std::nullopt);
  };
  base::Result<CaptureOutcome> outcome = capture_within_memory(request, show, signals.token());
  line.clear();
  if (!outcome) {
    if (work.holds_recording()) {
      work.keep();
      return base::fail(kept_in(std::move(outcome).error(), request.directory));
    }
    return base::fail(std::move(outcome).error());
  }
  return finish(*outcome, outputs, work,
                options.verbose ? capture::Detail::kFull : capture::Detail::kBrief, json);
}

} // namespace

void add_record(cli::Program& program) {
  auto options = std::make_shared<RecordOptions>();
  cli::Command command =
      program.add({.name = "record",
                   .summary = "Record a JVM for a while and write its profile",
                   .examples = "  jprof record --duration 10s -o flamegraph.html\n"
                               "  jprof record 4711 --duration 1m -o a.jprof -o a.collapsed\n"},
                  [&program, options] { return run_record(*options, program.json()); });
  add_target_options(command, options->capture, "How long, with a unit: 10s, 2m");
  command.option("-e,--event", options->event, "What is sampled: cpu").show_default();
  command
      .option("--engine", options->engine,
              "What decides when to sample: cpu-timer, perf-clock, or auto: perf's clock for "
              "intervals below two ticks of the kernel, where it may be used")
      .show_default();
  command
      .option("--walker", options->walker,
              "What walks the stacks: vmstructs (jprof's own), or, to see how they differ, "
              "asgct, jvmti, jmx")
      .show_default();
  add_leave_behind(command, options->capture);
  command
      .option("--max-overhead", options->max_overhead,
              "Give up rate, then depth, rather than cost more of the JVM's CPU time; 0: never")
      .show_default();
  command
      .option("-o,--output", options->outputs,
              "File to write, may be repeated; its ending gives the format: .html .svg "
              ".collapsed .txt .json .jprof (default: jprof-<time>.html)")
      .repeated();
  command.word_flag("--threads", options->threads, {"thread", "pool"}, formats::kThreadsHelp);
  command.option("--title", options->title, "Title of the page");
  command.flag("-v,--verbose", options->verbose,
               "Tell also which ways of delivering the agent were not taken, and why");
  add_agent_options(command, options->capture);
}

} // namespace jprof::sidecar
