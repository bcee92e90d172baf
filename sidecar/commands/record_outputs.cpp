// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/record_outputs.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/out_of_memory.h"
#include "lib/base/output_place.h"
#include "lib/formats/format.h"
#include "sidecar/record/capture_job.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::sidecar {
namespace {

constexpr std::string_view kRecordingEnding = "jprof";
constexpr std::size_t kMaxPathBytes = 4096;

// Files that a person asked for have the rights that any program's would; in the capture's
// directory they are private.
unsigned usual_mode() {
  const mode_t mask = ::umask(022); // the only way to read it; no other thread makes files now
  ::umask(mask);
  return 0666U & ~mask;
}

base::Result<std::string> bytes_of(int fd) {
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    return base::make_failure(base::ErrorCode::kIo, "the recording cannot be read");
  }
  try {
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    JPROF_TRY(base::pread_exact(fd, std::as_writable_bytes(std::span(bytes)), 0, "the recording"));
    return bytes;
  } catch (const std::bad_alloc&) {
    return base::fail(base::out_of_memory());
  }
}

base::Status copy_to(const std::string& path, int fd, unsigned mode) {
  JPROF_TRY_ASSIGN(const std::string bytes, bytes_of(fd));
  return base::write_output(path, bytes, mode);
}

// In a work directory of its own, as a capture that could not go on leaves it: the next one beside
// it tells of it. Empty where it cannot be written there either.
std::string keep_in(const std::string& folder, int fd) {
  const auto name = record::WorkDirectory::name_in(folder);
  auto work = name ? record::WorkDirectory::make(*name)
                   : base::Result<record::WorkDirectory>(base::fail(name.error()));
  if (!work) {
    return {};
  }
  std::string path = work->path() + '/' + record::kRecordingFile;
  if (!copy_to(path, fd, 0600)) {
    return {};
  }
  work->keep();
  return path;
}

std::string command_for(const std::string& recording) {
  return "jprof convert " + base::printable(recording, kMaxPathBytes) + " -o FILE";
}

} // namespace

base::Result<RecordOutputs> RecordOutputs::plan(const std::vector<std::string>& paths) {
  std::vector<Output> outputs;
  for (const std::string& path : paths) {
    JPROF_TRY(formats::format_of(path));
    outputs.push_back({.path = path, .ending = path.substr(path.rfind('.') + 1)});
  }
  return RecordOutputs(std::move(outputs));
}

std::string RecordOutputs::first_folder() const {
  return base::directory_of(outputs_.front().path);
}

std::vector<std::string> RecordOutputs::formats() const {
  std::vector<std::string> endings;
  for (const Output& output : outputs_) {
    if (std::ranges::find(endings, output.ending) == endings.end()) {
      endings.push_back(output.ending);
    }
  }
  return endings;
}

base::Result<std::vector<std::string>> RecordOutputs::check_places() const {
  std::vector<std::string> writable{first_folder()};
  for (const Output& output : outputs_) {
    JPROF_TRY_ASSIGN(const base::OutputPlace place, base::output_place(output.path));
    JPROF_TRY(base::check_folder(output.path, place));
    writable.push_back(place.stream ? place.path : base::directory_of(place.path));
  }
  return writable;
}

void RecordOutputs::note(Output& output, base::Status status) {
  output.written = status.has_value();
  if (status) {
    return;
  }
  base::Error error = std::move(status).error();
  // The name of the temporary file says nothing to anybody.
  output.error = error.os_errno != 0
                     ? base::errno_error(error.os_errno, "cannot write " + output.path)
                     : std::move(error).with_context(output.path + " was not written");
}

std::vector<std::string> RecordOutputs::write(const std::string& ending, std::string_view bytes) {
  const unsigned mode = usual_mode();
  std::vector<std::string> paths;
  for (Output& output : outputs_) {
    if (output.ending == ending) {
      note(output, base::write_output(output.path, bytes, mode));
      if (output.written) {
        paths.push_back(output.path);
      }
    }
  }
  return paths;
}

void RecordOutputs::write_recording(const record::WorkDirectory& work, int fd) {
  const unsigned mode = usual_mode();
  const auto wants = [](const Output& output) { return output.ending == kRecordingEnding; };
  const auto last = std::ranges::find_if(outputs_.rbegin(), outputs_.rend(), wants);
  for (Output& output : outputs_) {
    if (!wants(output)) {
      continue;
    }
    const auto place = base::output_place(output.path);
    if (!place) {
      note(output, base::fail(place.error()));
      continue;
    }
    const std::string from = work.path() + '/' + record::kRecordingFile;
    const bool movable = &output == &*last && !place->stream && ::fchmod(fd, mode) == 0;
    const bool moved = movable && ::rename(from.c_str(), place->path.c_str()) == 0;
    note(output, moved ? base::Status() : copy_to(output.path, fd, mode));
    output.kept_at = output.written && !place->stream ? output.path : "";
  }
}

bool RecordOutputs::all_written() const {
  return std::ranges::all_of(outputs_, &Output::written);
}

std::vector<std::string> RecordOutputs::written() const {
  std::vector<std::string> paths;
  for (const Output& output : outputs_) {
    if (output.written) {
      paths.push_back(output.path);
    }
  }
  return paths;
}

std::vector<std::string> RecordOutputs::untried() const {
  std::vector<std::string> paths;
  for (const Output& output : outputs_) {
    if (!output.written && !output.error) {
      paths.push_back(output.path);
    }
  }
  return paths;
}

std::vector<base::Error> RecordOutputs::errors() const {
  std::vector<base::Error> errors;
  for (const Output& output : outputs_) {
    if (output.error) {
      errors.push_back(*output.error);
    }
  }
  return errors;
}

std::string RecordOutputs::keep_recording(record::WorkDirectory& work, int fd) const {
  for (const Output& output : outputs_) {
    if (!output.kept_at.empty()) {
      return "the recording is " + base::printable(output.kept_at, kMaxPathBytes) + ": " +
             command_for(output.kept_at) + " makes other files from it";
    }
  }
  std::string kept;
  if (work.holds_recording()) {
    kept = work.path() + '/' + record::kRecordingFile;
    work.keep();
  }
  for (auto output = outputs_.begin(); kept.empty() && output != outputs_.end(); ++output) {
    const auto place = base::output_place(output->path);
    kept = place && !place->stream ? keep_in(base::directory_of(place->path), fd) : std::string();
  }
  if (kept.empty()) {
    return "the recording is lost: its folder has gone and no other takes it; capture again";
  }
  return "the recording is kept in " + base::printable(kept, kMaxPathBytes) + ": " +
         command_for(kept) + " writes it elsewhere";
}

} // namespace jprof::sidecar
