// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"
#include "lib/formats/format.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What `-o FILE` and `--to FORMAT` of convert and diff mean, the same in both programs.
namespace jprof::formats {

struct OutputFile {
  std::string path; // "-" is standard output
  Format format = Format::kCollapsed;
};

struct OutputRequest {
  std::vector<std::string> paths;
  std::string standard_format; // "html"; empty: folded text
  bool json = false;           // standard output is taken by the result
};

// A file's ending gives its format; standard output is "-" or no file at all. kUsage before
// anything is read: an ending that names no format, or one that is not in `allowed`, or standard
// output for two things.
base::Result<std::vector<OutputFile>> plan_outputs(const OutputRequest& request,
                                                   std::span<const Format> allowed);

// Renders everything first, then writes each file at once (whole or not at all, with the usual
// rights): a format that cannot be made leaves nothing behind. A file that cannot be written does
// not keep the others from being written; the error names both. kUsage for a folder that does not
// exist, kIo for a full disk or a closed pipe. What was written is reported on standard output:
// with `result` as that object and its "files", otherwise one line per file, or nothing if standard
// output holds a format.
base::Status write_outputs(std::span<const OutputFile> outputs,
                           const std::function<base::Result<std::string>(Format)>& render,
                           const base::Json* result);

// The exit code of a result made from a recording with `damage` (ProfileInfo), which is also
// reported in `result`: what could be read is written, and PartialCapture says that it is
// incomplete.
int exit_code_of(const std::string& damage, base::Json& result);

} // namespace jprof::formats
