// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/output_files.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/output_place.h"
#include "lib/base/together.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::formats {
namespace {

constexpr std::string_view kStandard = "-";
constexpr char kStandardName[] = "standard output";

std::string endings_of(std::span<const Format> allowed) {
  std::string out;
  for (const FormatName& name : writable_formats()) {
    if (std::ranges::find(allowed, name.format) != allowed.end()) {
      out += out.empty() ? "" : " ";
      out += name.ending;
    }
  }
  return out;
}

base::Result<Format> standard_output_format(std::string_view word) {
  if (word.empty()) {
    return Format::kCollapsed;
  }
  const bool dotted = word.starts_with('.');
  return format_of("x" + std::string(dotted ? "" : ".") + std::string(word));
}

base::Status write_one(const std::string& path, const std::string& bytes) {
  if (path == kStandard) {
    return base::write_all(STDOUT_FILENO, bytes, kStandardName);
  }
  JPROF_TRY_ASSIGN(const base::OutputPlace place, base::output_place(path));
  JPROF_TRY(base::check_folder(path, place));
  const mode_t mask = ::umask(022); // the only way to read it
  ::umask(mask);
  return base::write_output(path, bytes, 0666U & ~mask);
}

} // namespace

base::Result<std::vector<OutputFile>> plan_outputs(const OutputRequest& request,
                                                   std::span<const Format> allowed) {
  std::vector<std::string> paths = request.paths;
  if (paths.empty()) {
    paths.emplace_back(kStandard);
  }
  const auto standard = std::ranges::count(paths, kStandard) + (request.json ? 1 : 0);
  if (standard > 1) {
    return base::make_failure(base::ErrorCode::kUsage, "standard output is asked for twice",
                              "name files with -o");
  }
  if (!request.standard_format.empty() && std::ranges::count(paths, kStandard) == 0) {
    return base::make_failure(base::ErrorCode::kUsage, "--to is the format of standard output",
                              "the ending of a file gives its format; -o - is standard output");
  }
  std::vector<OutputFile> outputs;
  for (const std::string& path : paths) {
    JPROF_TRY_ASSIGN(const Format format, path == kStandard
                                              ? standard_output_format(request.standard_format)
                                              : format_of(path));
    if (std::ranges::find(allowed, format) == allowed.end()) {
      return base::make_failure(base::ErrorCode::kUsage,
                                "this cannot be written as '" + base::printable(path) + "'",
                                "known endings are " + endings_of(allowed));
    }
    outputs.push_back({path, format});
  }
  return outputs;
}

base::Status write_outputs(std::span<const OutputFile> outputs,
                           const std::function<base::Result<std::string>(Format)>& render,
                           const base::Json* result) {
  std::vector<std::string> contents;
  for (const OutputFile& output : outputs) {
    JPROF_TRY_ASSIGN(std::string bytes, render(output.format));
    contents.push_back(std::move(bytes));
  }
  std::string lines;
  base::Json files = base::Json::array();
  bool taken = false;
  std::vector<base::Error> failures;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& path = outputs[i].path;
    if (base::Status written = write_one(path, contents[i]); !written) {
      failures.push_back(std::move(written).error());
      continue;
    }
    taken = taken || path == kStandard;
    lines += base::printable(path, 4096) + "  " + std::to_string(contents[i].size()) + " bytes\n";
    files.push_back({{"path", path}, {"bytes", contents[i].size()}});
  }
  if (!failures.empty()) {
    base::Error error = base::together(failures);
    for (const base::Json& file : files) {
      error.message += "; written: " + base::json_string(file, "path");
    }
    return base::fail(std::move(error));
  }
  if (result != nullptr) {
    base::Json whole = *result;
    whole["files"] = std::move(files);
    return base::write_all(STDOUT_FILENO, base::dump_json(whole) + "\n", kStandardName);
  }
  return taken ? base::Status() : base::write_all(STDOUT_FILENO, lines, kStandardName);
}

int exit_code_of(const std::string& damage, base::Json& result) {
  if (damage.empty()) {
    return 0;
  }
  const int code = base::exit_code(base::ErrorCode::kPartialCapture);
  result["ok"] = false;
  result["exitCode"] = code;
  result["reason"] = base::reason_word(base::ErrorCode::kPartialCapture);
  result["message"] = damage;
  return code;
}

} // namespace jprof::formats
