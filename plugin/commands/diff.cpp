// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/capture/capture_id.h"
#include "lib/cli/foreign_text.h"
#include "lib/delivery/stored_capture.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/format_diff.h"
#include "lib/formats/output_files.h"
#include "lib/store/store_factory.h"
#include "plugin/commands/commands.h"

#include <memory>
#include <sys/stat.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using formats::Input;

struct DiffCommand {
  std::string base;
  std::string changed;
  std::string store;
  std::vector<std::string> outputs;
  std::string to;
  formats::DiffOptions options;
};

bool is_url(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}

// A capture's URL may be that of one of its files, since people copy those.
void drop_file_name(std::string& path) {
  const auto slash = path.rfind('/');
  const std::string_view last = std::string_view(path).substr(slash + 1); // npos + 1 is 0
  if (last == capture::kManifestFile || last.starts_with("profile.") ||
      last.starts_with("flamegraph.")) {
    path.resize(slash == std::string::npos ? 0 : slash);
  }
}

Result<Input> read_from(store::ObjectStore& store, const delivery::StoredCapture& stored) {
  JPROF_TRY_ASSIGN(std::string bytes, delivery::read_stored_recording(store, stored));
  const capture::Manifest& manifest = stored.manifest;
  const std::string& pod = manifest.source.pod;
  return Input{(pod.empty() ? manifest.id : pod) + " " + manifest.request_time, std::move(bytes)};
}

Result<std::unique_ptr<store::ObjectStore>> open_store(const store::StoreUrl& url) {
  return store::make_object_store(url, {});
}

// s3://bucket/prefix/v1/.../100000Z-pod-app-ID: the store is opened at the capture itself.
Result<Input> read_url(const std::string& text) {
  JPROF_TRY_ASSIGN(store::StoreUrl url, store::parse_store_url(text));
  drop_file_name(url.kind == store::StoreUrl::Kind::kFile ? url.directory : url.prefix);
  JPROF_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> store, open_store(url));
  JPROF_TRY_ASSIGN(const delivery::StoredCapture stored, delivery::open_stored(*store, ""));
  return read_from(*store, stored);
}

// An id, or the key of a capture beneath the store.
Result<Input> read_stored(const std::string& store_url, const std::string& text) {
  JPROF_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(store_url));
  JPROF_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> store, open_store(url));
  std::string directory = text;
  drop_file_name(directory);
  while (directory.ends_with('/')) {
    directory.pop_back();
  }
  JPROF_TRY_ASSIGN(const delivery::StoredCapture stored,
                   capture::is_capture_id(text) ? delivery::find_stored(*store, text)
                                                : delivery::open_stored(*store, directory));
  return read_from(*store, stored);
}

// A folder that holds a capture, as `file://` stores do.
bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<Input> read_one(const DiffCommand& command, const std::string& what) {
  if (is_url(what)) {
    return read_url(what);
  }
  const bool in_store =
      capture::is_capture_id(what) || (what.starts_with("v1/") && !command.store.empty());
  if (!in_store) {
    return formats::read_input(is_directory(what) ? what + "/profile.jprof" : what);
  }
  if (command.store.empty()) {
    return base::make_failure(ErrorCode::kUsage,
                              what + " is the id of a capture, but of which store?",
                              "name it with --store file:///dir or s3://bucket/prefix");
  }
  return read_stored(command.store, what);
}

Result<int> diff(const DiffCommand& command, bool json) {
  JPROF_TRY_ASSIGN(
      const std::vector<formats::OutputFile> outputs,
      formats::plan_outputs({command.outputs, command.to, json}, formats::kDiffFormats));
  JPROF_TRY_ASSIGN(const Input base, read_one(command, command.base));
  JPROF_TRY_ASSIGN(const Input changed, read_one(command, command.changed));
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
    cli::print_warning("kubectl-jprof", one);
  }
  return code;
}

void add_options(cli::Command app, DiffCommand& command) {
  app.option("BASE", command.base,
             "The older capture: its id or key in --store, its URL, or a local file")
      .required();
  app.option("CHANGED", command.changed, "The newer capture, compared with the older one")
      .required();
  app.option("--store", command.store,
             "Where ids and keys are looked up: file:///dir or s3://bucket/prefix");
  app.option("-o,--output", command.outputs,
             "File to write, repeatable: .html .svg .collapsed; - or none is standard output")
      .repeated();
  app.option("--to", command.to,
             "Format of standard output: collapsed (default), folded text with two counts; html "
             "svg");
  app.flag("-n,--normalize", command.options.normalize,
           "Scale the base's counts to the total of the other (.svg, .collapsed; the page "
           "always compares shares)");
  app.flag("-s,--strip-hex", command.options.strip_hex,
           "Addresses in names become 0x... (.svg, .collapsed)");
  app.flag("--negate", command.options.negate, "Swap the colours of more and less (.svg)");
  app.option("--event", command.options.event, formats::kEventHelp);
  app.option("--title", command.options.title, "Title of pages and pictures");
}

} // namespace

void add_diff(cli::Program& program) {
  auto command = std::make_shared<DiffCommand>();
  cli::Command app = program.add(
      {.name = "diff",
       .summary = "Show what changed between two captures, in a store or in files",
       .examples = "  kubectl jprof diff --store s3://profiles/shop -o diff.html \\\n"
                   "      01JD6Z5T6V9GZ0P4X6N8Q2R7ST 01JD9AXK4M7Y2B0D5H8Q3W6E1R\n"
                   "  kubectl jprof diff s3://profiles/v1/prod/shop/.../100000Z-a-app-01JD... "
                   "b.jprof -o d.html\n"
                   "  kubectl jprof diff yesterday.jprof today.jprof -o diff.html\n"},
      [&program, command] { return diff(*command, program.json()); });
  add_options(app, *command);
}

} // namespace jprof::plugin
