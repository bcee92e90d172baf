// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/derived_files.h"

#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/base/mebibytes.h"
#include "lib/capture/bundle.h"
#include "lib/formats/format_writer.h"
#include "lib/profile/recording_reader.h"
#include "sidecar/record/capture_room.h"
#include "sidecar/record/memory_budget.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace jprof::record {
namespace {

using base::ErrorCode;

class DerivedFiles {
 public:
  DerivedFiles(const CaptureRequest& request, CaptureOutcome& outcome)
      : request_(request), room_(room_of(request)), outcome_(outcome) {}

  void make_all() {
    profile::ReadOptions options;
    options.lines = profile::FrameLines::kMerge;
    const std::uint64_t most = memory_budget(available_memory()).timed_samples;
    if (outcome_.samples > most) {
      options.times = profile::SampleTimes::kMerge;
      outcome_.notes.push_back("derived files hold no times: the memory here is for " +
                               std::to_string(most) + " samples with theirs");
    }
    const base::Result<profile::Recording> recording =
        profile::read_recording_fd(outcome_.recording.get(), kRecordingFile, options);
    if (!recording) {
      outcome_.file_errors.push_back(recording.error());
      return;
    }
    for (const std::string& ending : request_.formats) {
      if (ending != "jprof") {
        make_one(recording->profile, ending);
      }
    }
  }

  std::vector<std::string> paths() && { return std::move(paths_); }

 private:
  base::Status check_room(const std::string& name, std::uint64_t bytes) const {
    std::uint64_t taken = 0;
    for (const CapturedFile& file : outcome_.files) {
      taken += file.bytes;
    }
    if (taken <= room_.files && bytes <= room_.files - taken) {
      return {};
    }
    return base::make_failure(
        ErrorCode::kLimit,
        name + " would take " + base::mebibytes(bytes) + ", the capture's other files take " +
            base::mebibytes(taken) + " and all may take " + base::mebibytes(request_.max_bytes),
        "convert profile.jprof elsewhere, or raise limits.captureBytes of the sidecar");
  }

  base::Result<std::vector<std::string>> write(const std::string& name, const std::string& ending,
                                               const std::string& bytes) {
    JPROF_TRY(check_room(name, bytes.size()));
    if (request_.take_derived) {
      return request_.take_derived(ending, bytes);
    }
    const std::string path = request_.directory + '/' + name;
    JPROF_TRY(base::write_file_atomically(path, bytes, 0600));
    return std::vector<std::string>{path};
  }

  void make_one(const profile::Profile& profile, const std::string& ending) {
    const std::string name = capture::bundle_file_name(ending);
    if (std::ranges::any_of(outcome_.files,
                            [&](const CapturedFile& file) { return file.name == name; })) {
      return;
    }
    const auto format = formats::format_of(name).value(); // checked at the beginning
    base::Result<std::string> bytes = formats::write_as(
        profile, format, {.title = {}, .threads = formats::thread_roots(request_.threads)});
    auto written = bytes ? write(name, ending, *bytes) : base::fail(bytes.error());
    if (!written) {
      outcome_.file_errors.push_back(std::move(written).error());
      return;
    }
    if (!written->empty()) {
      outcome_.files.push_back({name, ending, bytes->size(), base::sha256_hex(*bytes)});
    }
    paths_.insert(paths_.end(), written->begin(), written->end());
  }

  const CaptureRequest& request_;
  const Room room_;
  CaptureOutcome& outcome_;
  std::vector<std::string> paths_;
};

} // namespace

std::vector<std::string> derive_files(const CaptureRequest& request, CaptureOutcome& outcome) {
  DerivedFiles files(request, outcome);
  const bool wanted = std::ranges::any_of(
      request.formats, [](const std::string& ending) { return ending != "jprof"; });
  // The recording is safe by now: a lack of memory costs only the derived files.
  try {
    if (wanted) {
      files.make_all();
    }
  } catch (const std::bad_alloc&) {
    outcome.file_errors.push_back(base::make_error(
        ErrorCode::kLimit, "there is not enough memory to render the recording",
        "convert profile.jprof elsewhere, or give the jprof container more memory"));
  }
  return std::move(files).paths();
}

} // namespace jprof::record
