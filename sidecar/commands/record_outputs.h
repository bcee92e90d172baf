// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"
#include "lib/base/result.h"
#include "sidecar/record/work_directory.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::sidecar {

// The files that `jprof record` was asked for. One that cannot be written does not keep the others
// from being written, and the recording stays somewhere as long as one is missing. One thread.
class RecordOutputs {
 public:
  // kUsage where an ending names no format. REQUIRES: at least one path.
  static base::Result<RecordOutputs> plan(const std::vector<std::string>& paths);

  // The folder of the first one: the recording is made beside it, so that a finished one is moved
  // there and not copied, and a full disk shows before the end of the capture.
  std::string first_folder() const;
  // File endings without the dot, in the order asked for, each once.
  std::vector<std::string> formats() const;
  // Looks at each place before time is spent on a capture, and gives the paths below which is
  // written. Errors as check_folder() has them.
  base::Result<std::vector<std::string>> check_places() const;

  // Writes `bytes` to each output with this ending, and gives the paths of those that were written.
  std::vector<std::string> write(const std::string& ending, std::string_view bytes);
  // Moves the recording of `work`, open as `fd` even if its folder has gone, to the outputs that
  // want it: the last one, where possible, by its name, the others as copies.
  void write_recording(const record::WorkDirectory& work, int fd);

  bool all_written() const;
  // Paths as they were named, in that order; those of `untried` could not even be made.
  std::vector<std::string> written() const;
  std::vector<std::string> untried() const;
  // Why the others were not written; each names its file.
  std::vector<base::Error> errors() const;

  // To be called where something is missing: what people can still do with the recording. It is
  // kept where it was written, or in `work`, or else in the folder of another output; its place, or
  // that it is lost, is in the answer, a cure.
  std::string keep_recording(record::WorkDirectory& work, int fd) const;

 private:
  struct Output {
    std::string path;
    std::string ending;
    bool written = false;
    std::optional<base::Error> error{};
    std::string kept_at{}; // of a recording: the file that it is in; empty for a stream
  };

  explicit RecordOutputs(std::vector<Output> outputs) : outputs_(std::move(outputs)) {}
  static void note(Output& output, base::Status status);

  std::vector<Output> outputs_;
};

} // namespace jprof::sidecar
