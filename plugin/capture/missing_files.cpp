// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/missing_files.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/together.h"
#include "lib/capture/bundle.h"
#include "lib/formats/format.h"
#include "lib/formats/format_writer.h"
#include "lib/profile/recording_reader.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using capture::kRecordingFormat;
using File = ReceivedFiles::File;

// In memory, decoded, it is a multiple of this. A minute of a busy JVM takes a few MiB.
constexpr std::uint64_t kMaxRecordingBytes = std::uint64_t{256} << 20U;

File* find_format(std::vector<File>& files, std::string_view format) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [format](const File& file) { return file.format == format; });
  return found == files.end() ? nullptr : &*found;
}

Result<File> fetch_recording(const std::string& path,
                             const std::function<base::Status(ReceivedFiles&)>& fetch) {
  ReceivedFiles received([&path](const std::string& format) {
    return format == kRecordingFormat ? path : std::string();
  });
  JPROF_TRY(fetch(received));
  File* file = find_format(received.files(), kRecordingFormat);
  if (file == nullptr) {
    return base::make_failure(ErrorCode::kProtocol, "the sidecar did not send the recording");
  }
  return std::move(*file);
}

Result<profile::Profile> read_recording(const File& file) {
  if (file.bytes > kMaxRecordingBytes) {
    return base::make_failure(ErrorCode::kLimit,
                              "the recording is too large to turn into a page here");
  }
  std::string bytes(file.bytes, '\0');
  JPROF_TRY(base::pread_exact(file.pending.fd(), std::as_writable_bytes(std::span(bytes)), 0,
                              file.pending.path()));
  // Even one without samples: its recorder may have been killed before the first one, and the
  // capture says so.
  Result<profile::Recording> recording = profile::read_recording(bytes);
  if (!recording) {
    return base::fail(std::move(recording).error().with_context(file.name));
  }
  return std::move(recording->profile);
}

Result<File> render(const profile::Profile& profile, const Output& output,
                    formats::ThreadRoots threads) {
  const std::string name = capture::bundle_file_name(output.format);
  JPROF_TRY_ASSIGN(const formats::Format format, formats::format_of(name));
  JPROF_TRY_ASSIGN(const std::string bytes,
                   formats::write_as(profile, format, {.title = {}, .threads = threads}));
  JPROF_TRY_ASSIGN(PendingFile pending, PendingFile::create(output.path));
  JPROF_TRY(pending.append(bytes));
  return File{name, output.format, base::sha256_hex(bytes), bytes.size(), std::move(pending)};
}

// Everything that is missing, from one recording. What could be made stays even if another file
// cannot be made.
base::Status render_all(const std::vector<const Output*>& missing, std::vector<File>& files,
                        formats::ThreadRoots threads) {
  JPROF_TRY_ASSIGN(const profile::Profile profile,
                   read_recording(*find_format(files, kRecordingFormat)));
  std::vector<base::Error> failures;
  for (const Output* output : missing) {
    Result<File> file = render(profile, *output, threads);
    if (file) {
      files.push_back(std::move(*file));
    } else {
      failures.push_back(std::move(file).error().with_context("." + output->format));
    }
  }
  return failures.empty() ? base::Status() : base::fail(base::together(failures));
}

} // namespace

bool is_derived(std::string_view format) {
  return format != kRecordingFormat &&
         formats::format_of(capture::bundle_file_name(format)).has_value();
}

std::set<std::string> drop_derived(std::vector<File>& received) {
  std::set<std::string> dropped;
  std::erase_if(received, [&dropped](const File& file) {
    if (!is_derived(file.format)) {
      return false;
    }
    dropped.insert(file.format);
    return true;
  });
  return dropped;
}

std::vector<const Output*> missing_outputs(const std::vector<Output>& outputs,
                                           std::vector<File>& received,
                                           const std::set<std::string>& dropped, bool for_store) {
  std::vector<const Output*> out;
  for (const Output& output : outputs) {
    const bool if_sent = output.keep == Output::Keep::kIfSent && dropped.contains(output.format);
    const bool stored = output.keep == Output::Keep::kUnlessStored && for_store &&
                        (dropped.contains(output.format) || output.format == "html");
    if ((output.keep == Output::Keep::kAlways || if_sent || stored) &&
        find_format(received, output.format) == nullptr) {
      out.push_back(&output);
    }
  }
  return out;
}

base::Status make_outputs(const std::vector<const Output*>& missing, std::vector<File>& files,
                          bool recording_wanted, formats::ThreadRoots threads,
                          const std::function<base::Status(ReceivedFiles&)>& fetch) {
  if (missing.empty()) {
    return {};
  }
  std::vector<const Output*> derived;
  std::string path = recording_path(*missing.front());
  for (const Output* output : missing) {
    if (output->format == kRecordingFormat) {
      path = output->path;
    } else {
      derived.push_back(output);
    }
  }
  if (find_format(files, kRecordingFormat) == nullptr) {
    JPROF_TRY_ASSIGN(File recording, fetch_recording(path, fetch));
    files.push_back(std::move(recording));
  }
  base::Status made = derived.empty() ? base::Status() : render_all(derived, files, threads);
  if (made) {
    return {};
  }
  base::Error error = std::move(made).error();
  std::string cure = "'jprof convert' turns the recording into other files";
  if (!recording_wanted && derived.size() == missing.size()) {
    JPROF_TRY_ASSIGN(path,
                     find_format(files, kRecordingFormat)->pending.commit(base::Replace::kRefuse));
    cure = "the recording is kept as " + base::printable(path, 4096) +
           ": 'jprof convert' turns it into other files";
  }
  error.code = ErrorCode::kNotStored; // captured, and here, but not as requested
  return base::fail(
      std::move(error)
          .with_context("captured, but not every file that was asked for could be made")
          .with_cure(cure));
}

} // namespace jprof::plugin
