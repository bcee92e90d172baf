// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/round_process.h"

#include "lib/base/deadline.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/out_of_memory.h"
#include "lib/profile/recording_reader.h"
#include "sidecar/container/as_target.h"
#include "sidecar/record/capture_outcome.h"

#include <cerrno>
#include <cstdint>
#include <new>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace jprof::record {
namespace {

using base::ErrorCode;
using base::UniqueFd;

// The JVM's part of a round: its start, and its end if it does not answer. Each of these steps has
// a shorter deadline of its own.
constexpr std::chrono::minutes kBesides{2};
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

// Turns the stop request of the process that waits for this one, which arrives as an event, into
// one of ours.
std::jthread stop_on_event(int event, std::stop_source& source) {
  return std::jthread([event, &source](const std::stop_token& ended) {
    constexpr int kLookMilliseconds = 100;
    pollfd wait{event, POLLIN, 0};
    while (!ended.stop_requested()) {
      if (::poll(&wait, 1, kLookMilliseconds) > 0) {
        source.request_stop();
        return;
      }
    }
  });
}

base::Result<container::Handed> record_here(const CaptureRequest& request, int event) {
  // Made before the sandbox; the process that waits reads it when we have ended.
  UniqueFd seen(::memfd_create("jprof-round", MFD_CLOEXEC));
  if (!seen) {
    return base::errno_failure(errno, "cannot allocate memory for a round's result");
  }
  std::stop_source stop;
  const std::jthread watcher = stop_on_event(event, stop);
  JPROF_TRY_ASSIGN(const CaptureOutcome outcome, run_capture(request, {}, stop.get_token()));
  if (outcome.partial || outcome.interrupted) {
    return base::make_failure(outcome.interrupted ? ErrorCode::kInterrupted
                                                  : ErrorCode::kPartialCapture,
                              outcome.interrupted ? "stopped" : outcome.partial_reason);
  }
  const std::string path = request.directory + '/' + kRecordingFile;
  JPROF_TRY_ASSIGN(const profile::Recording recording,
                   profile::read_recording_file(path, {.times = profile::SampleTimes::kMerge,
                                                       .lines = profile::FrameLines::kMerge}));
  JPROF_TRY(base::write_all(seen.get(), round_text(round_of(recording.profile)), "a round"));
  const base::Json about = {{"pid", outcome.pid}, {"javaVersion", outcome.java_version}};
  return container::Handed{std::move(seen), base::dump_json(about)};
}

base::Result<container::Handed> record_within_memory(const CaptureRequest& request, int event) {
  try {
    return record_here(request, event);
  } catch (const std::bad_alloc&) {
    return base::fail(base::out_of_memory());
  }
}

} // namespace

base::Result<RecordedRound> record_round(CaptureRequest request, const std::stop_token& stop) {
  request.sandbox = true;
  request.writable = {request.directory};
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback tell(stop, [&event] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = ::write(event.get(), &one, sizeof(one));
  });
  auto handed = container::within(base::Deadline::after(request.duration + kBesides),
                                  [&] { return record_within_memory(request, event.get()); });
  ::unlink((request.directory + '/' + kRecordingFile).c_str());
  JPROF_TRY_ASSIGN(const container::Handed answer, std::move(handed));
  JPROF_TRY_ASSIGN(const base::Json about, base::parse_json(answer.text));
  if (!answer.fd || ::lseek(answer.fd.get(), 0, SEEK_SET) != 0) {
    return base::make_failure(ErrorCode::kInternal, "a round ended without a result");
  }
  JPROF_TRY_ASSIGN(const std::string text, base::read_all(answer.fd.get(), kMaxBytes, "a round"));
  RecordedRound out;
  JPROF_TRY_ASSIGN(out.round, parse_round(text));
  out.pid = static_cast<std::int32_t>(base::json_int(about, "pid"));
  out.java_version = base::json_string(about, "javaVersion");
  return out;
}

} // namespace jprof::record
