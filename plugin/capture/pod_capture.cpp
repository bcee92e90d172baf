// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pod_capture.h"

#include "lib/base/encoding.h"
#include "lib/capture/bundle.h"
#include "plugin/capture/capture_store.h"
#include "plugin/capture/missing_files.h"
#include "plugin/capture/received_files.h"
#include "plugin/conversation/ask.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::chrono::seconds kMaxEndDelay{10}; // the API reports an end at most this late
constexpr int kLookSeconds = 4; // for the kubelet's view of a container that has just ended

// The entry's own session first, then new ones in the same container.
ChannelFactory session_in(kube::KubeClient& client, const PodCapture& capture, PodEntry& entry) {
  return [&client, &capture, &entry](int wake_fd) {
    return entry.channel ? Result<std::unique_ptr<ByteChannel>>(std::move(entry.channel))
                         : open_channel(client, capture.pod, entry.container, wake_fd);
  };
}

std::string fetch_hint(const PodCapture& capture) {
  return "kubectl jprof fetch -n " + capture.pod.namespace_name + " " + capture.pod.name;
}

const Output* output_of(const PodCapture& capture, const std::string& format) {
  const auto found =
      std::find_if(capture.outputs.begin(), capture.outputs.end(),
                   [&format](const Output& output) { return output.format == format; });
  return found == capture.outputs.end() ? nullptr : &*found;
}

base::Error with_besides(base::Error error, const base::Error& other) {
  error.message += "; also: " + other.message;
  error.cure += (error.cure.empty() || other.cure.empty() ? "" : "; ") + other.cure;
  return error;
}

// The first failure counts, unless it says only "partial"; the other is reported with it.
void add_failure(PodReport& report, base::Error error) {
  if (!report.error) {
    report.error = std::move(error);
  } else if (report.error->code == ErrorCode::kPartialCapture) {
    report.error = with_besides(std::move(error), *report.error);
  } else {
    report.error = with_besides(std::move(*report.error), error);
  }
}

// Gives the wanted files their names. One that fails does not keep the others from getting theirs.
void keep_files(const PodCapture& capture, ReceivedFiles& received, PodReport& report) {
  for (ReceivedFiles::File& file : received.files()) {
    const Output* output = output_of(capture, file.format);
    const bool wanted = output != nullptr && (output->keep == Output::Keep::kAlways ||
                                              output->keep == Output::Keep::kIfSent);
    const bool dropped = output == nullptr || output->keep == Output::Keep::kNever;
    if (dropped || (!wanted && !report.stored.empty())) {
      continue;
    }
    const auto replace = capture.replace && wanted ? base::Replace::kAllow : base::Replace::kRefuse;
    Result<std::string> path = file.pending.commit(replace);
    if (path) {
      report.files.push_back({std::move(*path), file.format, file.bytes});
    } else {
      base::Error error = std::move(path).error();
      error.code = ErrorCode::kNotStored; // captured, but not where it was asked for
      add_failure(report, std::move(error).with_cure(fetch_hint(capture) + " " + report.id +
                                                     " -o FILE gets it again, as long as the "
                                                     "sidecar keeps it"));
    }
  }
}

// A result that says it is incomplete counts as one with an error.
void read_result(const protocol::ResultMessage& result, PodReport& report) {
  report.id = result.id.empty() ? report.id : result.id;
  report.manifest = result.manifest;
  if (result.exit_code != 0) {
    ErrorCode code = base::code_from_word(result.reason);
    if (base::exit_code(code) != result.exit_code) {
      code = result.exit_code == 6 ? ErrorCode::kPartialCapture : ErrorCode::kNotStored;
    }
    report.error = base::make_error(code, result.message, result.cure);
  }
}

bool names_recording(const base::Json& manifest) {
  const base::Json& files = base::json_array(manifest, "files");
  return std::any_of(files.begin(), files.end(), [](const base::Json& file) {
    return base::json_string(file, "name") == capture::bundle_file_name(capture::kRecordingFormat);
  });
}

// A bundle's manifest names what the bundle contains: what was made here, not what the pod sent.
base::Json manifest_of_ours(base::Json manifest, std::vector<ReceivedFiles::File>& files) {
  base::Json list = base::Json::array();
  for (const base::Json& entry : base::json_array(manifest, "files")) {
    if (!is_derived(base::json_string(entry, "format"))) {
      list.push_back(entry);
    }
  }
  for (const ReceivedFiles::File& file : files) {
    if (is_derived(file.format)) {
      list.push_back({{"name", file.name},
                      {"format", file.format},
                      {"bytes", file.bytes},
                      {"sha256", file.sha256}});
    }
  }
  manifest["files"] = std::move(list);
  return manifest;
}

// Whatever can be made from the recording is made here, whether it was sent or not: nothing that a
// browser runs or a terminal shows comes from the pod unchanged.
void make_missing(const PodCapture& capture, CaptureRun& run, ReceivedFiles& received,
                  PodReport& report) {
  const auto fetch = [&](ReceivedFiles& recording) -> base::Status {
    protocol::Request request;
    request.kind = protocol::RequestKind::kFetch;
    request.fetch.id = report.id;
    request.fetch.names = {capture::bundle_file_name(capture::kRecordingFormat)};
    request.fetch.offsets = {0};
    request.fetch.wait = false;
    JPROF_TRY(run.run(request, recording));
    return {};
  };
  const std::set<std::string> dropped = drop_derived(received.files());
  const std::vector<const Output*> missing =
      missing_outputs(capture.outputs, received.files(), dropped, !capture.store_url.empty());
  if (missing.empty()) {
    return;
  }
  const Output* const recording = output_of(capture, std::string(capture::kRecordingFormat));
  const bool recording_wanted =
      recording != nullptr && recording->keep != Output::Keep::kNever &&
      (recording->keep != Output::Keep::kUnlessStored || capture.store_url.empty());
  base::Status made =
      names_recording(report.manifest)
          ? make_outputs(missing, received.files(), recording_wanted, capture.threads, fetch)
          : base::make_failure(ErrorCode::kProtocol, "the sidecar sent neither ." +
                                                         missing.front()->format +
                                                         " nor the recording to make it from");
  if (!made) {
    add_failure(report, std::move(made).error());
  }
}

// With the caller's own identity. Reports when the store is silent, and ends on Ctrl-C.
void store(const PodCapture& capture, const Interrupt& interrupt,
           const ProgressCallback& on_progress, ReceivedFiles& received, PodReport& report) {
  if (!names_recording(report.manifest)) {
    return; // nothing to store, as make_missing has told; a manifest alone would pass as a capture
  }
  StoreWait wait;
  wait.patience = capture.store_patience;
  wait.interrupt = &interrupt;
  wait.on_silence = [&](std::chrono::seconds silent) {
    protocol::Progress progress;
    progress.phase = "storing";
    progress.elapsed = silent;
    progress.duration = capture.store_patience;
    on_progress(progress);
  };
  report.manifest = manifest_of_ours(std::move(report.manifest), received.files());
  Result<StoredCapture> stored =
      store_capture(capture.store_url, report.manifest, received.files(), wait);
  if (stored) {
    report.stored = std::move(stored->location);
    report.stored_note = std::move(stored->note);
    return;
  }
  base::Error error = std::move(stored).error();
  // Whatever the store said: the capture is here, but not there.
  error.code = ErrorCode::kNotStored;
  const std::string cure = (error.cure.empty() ? std::string() : error.cure + "; then ") +
                           fetch_hint(capture) + " " + report.id + " --store '" +
                           capture.store_url + "' stores it, as long as the sidecar keeps it";
  error = std::move(error).with_context("captured, but not stored").with_cure(cure);
  report.error = report.error ? with_besides(std::move(error), *report.error) : std::move(error);
}

// An entry into the pod that was gone, and the capture that ran there.
struct Attempt {
  PodEntry entry;
  std::optional<CaptureRun> run;
};

// What an exec reports for a container that has ended but is still listed as running.
bool may_have_ended(const base::Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTargetNotFound ||
         error.code == ErrorCode::kNoSidecar || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kUsage;
}

Result<protocol::ResultMessage> run_on_way(kube::KubeClient& client, const PodCapture& capture,
                                           const Interrupt& interrupt,
                                           const ProgressCallback& on_progress,
                                           ReceivedFiles& received, PodReport& report,
                                           Attempt& attempt) {
  const auto on_phase = [&](const std::string& phase) {
    protocol::Progress progress;
    progress.phase = phase;
    on_progress(progress);
  };
  for (const PodAccess* access = &capture.access;; access = access->if_gone.get()) {
    JPROF_TRY_ASSIGN(
        attempt.entry,
        enter_pod(client, capture.pod, *access, interrupt,
                  {.on_phase = on_phase, .made = &report.made, .force = capture.force}));
    attempt.run.emplace(session_in(client, capture, attempt.entry), interrupt, on_progress,
                        CaptureRun::Options{.fetch_hint = fetch_hint(capture)});
    Result<protocol::ResultMessage> result = attempt.run->run(capture.request, received);
    const bool gone = !result && attempt.run->unheard() && may_have_ended(result.error());
    // Another one is added only if this one is really gone, not because the network fails.
    if (!gone || access->if_gone == nullptr ||
        !await_end(client, capture.pod, access->container, interrupt, kMaxEndDelay)) {
      return result;
    }
    on_phase(access->container + " has ended in the meantime");
  }
}

// A JVM that died during the capture is named, with the reason from the container's status.
void name_endings(kube::KubeClient& client, const PodCapture& capture, const std::string& own,
                  const Interrupt& interrupt, PodReport& report) {
  static constexpr std::array kOfADeath = {ErrorCode::kPartialCapture, ErrorCode::kTargetGone,
                                           ErrorCode::kInternal,       ErrorCode::kAttachFailed,
                                           ErrorCode::kAgentFailed,    ErrorCode::kUnavailable,
                                           ErrorCode::kTimeout};
  if (!report.error || capture.request.kind != protocol::RequestKind::kRecord ||
      report.error->code == ErrorCode::kInterrupted) {
    return;
  }
  const bool likely =
      std::find(kOfADeath.begin(), kOfADeath.end(), report.error->code) != kOfADeath.end();
  const EndingQuestion question{report.container, own,
                                std::chrono::seconds(likely ? kLookSeconds : 0)};
  report.ended = find_endings(client, capture.pod, question, interrupt);
  report.error = with_endings(std::move(*report.error), report.ended, question);
}

} // namespace

int PodReport::exit_code() const {
  return error ? base::exit_code(error->code) : 0;
}

base::Json PodReport::to_json() const {
  base::Json out = {{"ok", !error}, {"exitCode", exit_code()}};
  if (error) {
    out["reason"] = base::reason_word(error->code);
    out["message"] = error->message;
    if (!error->cure.empty()) {
      out["cure"] = error->cure;
    }
  }
  out["namespace"] = namespace_name;
  out["pod"] = pod;
  if (!container.empty()) {
    out["container"] = container;
  }
  out["id"] = id;
  base::Json& list = out["files"] = base::Json::array();
  for (const WrittenFile& file : files) {
    list.push_back({{"path", file.path}, {"format", file.format}, {"bytes", file.bytes}});
  }
  if (!stored.empty()) {
    out["stored"] = stored;
    if (!stored_note.empty()) {
      out["storedNote"] = stored_note;
    }
  }
  for (const MadeContainer& one : made) {
    out["ephemeralContainers"].push_back(one.name);
  }
  for (const ContainerEnding& one : ended) {
    out["ended"].push_back({{"container", one.container},
                            {"reason", one.ending.reason},
                            {"exitCode", one.ending.exit_code}});
  }
  if (!manifest.empty()) {
    out["manifest"] = manifest;
  }
  return out;
}

PodReport refused_report(const kube::Pod& pod, base::Error error) {
  PodReport report;
  report.pod = pod.name;
  report.namespace_name = pod.namespace_name;
  report.error = std::move(error);
  return report;
}

PodReport run_pod_capture(kube::KubeClient& client, const PodCapture& capture,
                          const Interrupt& interrupt, const ProgressCallback& on_progress) {
  PodReport report;
  report.pod = capture.pod.name;
  report.namespace_name = capture.pod.namespace_name;
  report.container = capture.request.record.pod.container;
  report.id = capture.request.kind == protocol::RequestKind::kRecord ? capture.request.record.id
                                                                     : capture.request.fetch.id;
  ReceivedFiles received([&capture](const std::string& format) {
    const Output* output = output_of(capture, format);
    return output == nullptr ? std::string() : output->path;
  });
  Attempt attempt;
  const Result<protocol::ResultMessage> result =
      run_on_way(client, capture, interrupt, on_progress, received, report, attempt);
  if (!result) {
    report.error = result.error();
  } else {
    read_result(*result, report);
  }
  if (attempt.run) {
    name_endings(client, capture, attempt.entry.container, interrupt, report);
  }
  if (!result) {
    return report;
  }
  make_missing(capture, *attempt.run, received, report);
  if (!capture.store_url.empty()) {
    store(capture, interrupt, on_progress, received, report);
  }
  keep_files(capture, received, report);
  // What the store has was not compared with what was sent, so the sidecar keeps its copy.
  const bool certain = report.stored_note.empty();
  if (certain && (!report.error || report.error->code == ErrorCode::kPartialCapture)) {
    attempt.run->release();
  }
  return report;
}

int worst_exit_code(const std::vector<PodReport>& reports) {
  // From good to bad: kept, kept but not stored, try later, and so on to nothing at all.
  static constexpr int kOrder[] = {0, 6, 7, 9, 8, 3, 5, 4, 2, 130, 70};
  const auto rank = [](int code) {
    return std::find(std::begin(kOrder), std::end(kOrder), code) - std::begin(kOrder);
  };
  int worst = 0;
  for (const PodReport& report : reports) {
    if (rank(report.exit_code()) > rank(worst)) {
      worst = report.exit_code();
    }
  }
  return worst;
}

} // namespace jprof::plugin
