// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/commands/run_captures.h"

#include "lib/base/counted.h"
#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/capture/manifest.h"
#include "lib/capture/progress_text.h"
#include "lib/capture/summary.h"
#include "lib/cli/program.h"
#include "lib/cli/progress_line.h"
#include "plugin/capture/capture_store.h"
#include "plugin/terminal/interrupt.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <thread>
#include <utility>

namespace jprof::plugin {
namespace {

using base::Result;

constexpr std::size_t kMaxNameLength = 120;
constexpr std::size_t kHottestShown = 3; // while it records; the terminal cuts what is too long

std::string silence_text(std::chrono::nanoseconds silent, std::chrono::nanoseconds patience) {
  return "the store is silent for " + capture::whole_seconds(silent) + " s, given up after " +
         capture::whole_seconds(patience) + " s (--store-timeout)";
}

std::string progress_text(const PodCapture& capture, const protocol::Progress& progress) {
  std::string out = base::printable(capture.pod.name) + ": " + base::printable(progress.phase, 40);
  if (progress.phase == "storing") {
    return out + ", but " + silence_text(progress.elapsed, progress.duration);
  }
  if (progress.phase != "recording") {
    return out;
  }
  out += " " + capture::recording_text(progress.elapsed, progress.duration, progress.samples,
                                       progress.lost);
  for (std::size_t i = 0; i < std::min(progress.hottest.size(), kHottestShown); ++i) {
    const protocol::HotMethod& method = progress.hottest[i];
    out += (i == 0 ? ": " : ", ") + std::to_string(method.self_permille / 10) + " % " +
           base::printable(method.name, kMaxNameLength);
  }
  return out;
}

// Each capture on its own thread, since each waits for its own pod.
std::vector<PodReport> run_all(kube::KubeClient& first, const std::vector<PodCapture>& captures,
                               const Interrupt& interrupt, cli::ProgressLine& progress) {
  std::vector<PodReport> reports(captures.size());
  const auto run_one = [&](std::size_t i, kube::KubeClient& client) {
    progress.update(i, "connecting", base::printable(captures[i].pod.name) + ": connecting");
    reports[i] =
        run_pod_capture(client, captures[i], interrupt, [&, i](const protocol::Progress& step) {
          const bool recording = step.phase == "recording";
          progress.update(i, step.phase, progress_text(captures[i], step),
                          recording ? capture::part_of(step.elapsed, step.duration) : std::nullopt);
        });
    progress.update(i, "done", "");
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < captures.size(); ++i) {
    threads.emplace_back([&, i] {
      auto client = kube::make_kube_client(first.access());
      if (client) {
        run_one(i, **client);
      } else {
        reports[i] = refused_report(captures[i].pod, std::move(client).error());
      }
    });
  }
  if (!captures.empty()) {
    run_one(0, first);
  }
  threads.clear(); // joins
  return reports;
}

void print_report(const PodReport& report) {
  std::printf("%s/%s%s%s\n", base::printable(report.namespace_name).c_str(),
              base::printable(report.pod).c_str(), report.container.empty() ? "" : ", container ",
              base::printable(report.container).c_str());
  if (!report.manifest.empty()) {
    const base::Json& measured = base::json_object(report.manifest, "measured");
    std::fputs(capture::summary_text(capture::measured_from_json(measured)).c_str(), stdout);
  }
  for (const WrittenFile& file : report.files) {
    std::printf("%s\n", base::printable(file.path, 4096).c_str());
  }
  if (!report.stored.empty()) {
    std::printf("%s\n", base::printable(report.stored, 4096).c_str());
    if (!report.stored_note.empty()) {
      std::fprintf(stderr, "kubectl-jprof: %s\n", report.stored_note.c_str());
    }
  }
}

base::Json attempts_json(const PodAccess& access) {
  base::Json out = base::Json::array();
  for (const PodAccess::Attempt& attempt : access.attempts) {
    out.push_back({{"rung", attempt.name}, {"taken", attempt.taken}, {"why", attempt.why}});
  }
  return out;
}

std::string left_words(const MadeContainer& one) {
  return one.started ? one.name + "; it ends after " + one.idle_exit +
                           " without a call (at once: kubectl jprof gc)"
                     : one.name + ", which has not started; if it still does it ends after " +
                           one.idle_exit + " without a call";
}

// The last line: what stays in the cluster.
void print_left(const std::vector<PodReport>& reports) {
  for (const PodReport& report : reports) {
    for (const MadeContainer& one : report.made) {
      std::fprintf(
          stderr, "left in %s/%s: ephemeral container %s; its record stays until the pod is gone\n",
          base::printable(report.namespace_name).c_str(), base::printable(report.pod).c_str(),
          left_words(one).c_str());
    }
  }
}

void print_json(const std::vector<PodReport>& reports) {
  if (reports.size() == 1) {
    std::printf("%s\n", base::dump_json(reports[0].to_json()).c_str());
    return;
  }
  base::Json out = {{"ok", worst_exit_code(reports) == 0}, {"exitCode", worst_exit_code(reports)}};
  base::Json& list = out["captures"] = base::Json::array();
  for (const PodReport& report : reports) {
    list.push_back(report.to_json());
  }
  std::printf("%s\n", base::dump_json(out).c_str());
}

} // namespace

base::Status try_store(const std::string& store_url, const std::string& timeout, bool json) {
  if (store_url.empty()) {
    return {};
  }
  cli::ProgressLine progress(
      json ? cli::ProgressLine::Mode::kSilent : cli::ProgressLine::mode_of_stderr(), 1);
  StoreWait wait;
  JPROF_TRY_ASSIGN(wait.patience, store_patience(timeout));
  wait.on_silence = [&](std::chrono::seconds silent) {
    progress.update(0, "silent", silence_text(silent, wait.patience));
  };
  base::Status checked = check_store(store_url, wait);
  if (!checked && checked.error().cure.empty()) {
    return base::fail(std::move(checked).error().with_cure(
        "without --store the capture stays on the laptop; 'kubectl jprof fetch POD ID --store' "
        "stores it when the store answers"));
  }
  return checked;
}

Result<int> run_captures(std::unique_ptr<kube::KubeClient> client,
                         const std::vector<PodCapture>& captures, std::vector<PodReport> refused,
                         std::size_t matching, bool json) {
  JPROF_TRY_ASSIGN(std::unique_ptr<Interrupt> owned, Interrupt::create());
  // Signals may come until the very end of the process.
  Interrupt& interrupt = *owned.release();
  interrupt.install();
  if (!json && matching > captures.size() + refused.size()) {
    std::fprintf(stderr, "%zu of %zu pods that match (--max-pods)\n",
                 captures.size() + refused.size(), matching);
  }
  for (const PodCapture& capture : captures) {
    std::fputs(json ? "" : announcement(capture.pod, capture.access).c_str(), stderr);
  }
  std::vector<PodReport> reports;
  {
    cli::ProgressLine progress(json ? cli::ProgressLine::Mode::kSilent
                                    : cli::ProgressLine::mode_of_stderr(),
                               captures.size());
    reports = run_all(*client, captures, interrupt, progress);
  }
  reports.insert(reports.end(), std::make_move_iterator(refused.begin()),
                 std::make_move_iterator(refused.end()));
  if (json) {
    print_json(reports);
    return worst_exit_code(reports);
  }
  const bool nothing = reports.size() == 1 && reports[0].files.empty() && reports[0].stored.empty();
  if (nothing && reports[0].error) {
    print_left(reports);
    return base::fail(*reports[0].error);
  }
  for (const PodReport& report : reports) {
    print_report(report);
    if (report.error) {
      std::fflush(stdout);
      cli::print_error("kubectl-jprof", *report.error);
    }
  }
  std::fflush(stdout);
  print_left(reports);
  return worst_exit_code(reports);
}

void print_plan(const std::vector<PodCapture>& captures, const std::vector<PodReport>& refused,
                bool json) {
  base::Json list = base::Json::array();
  for (const PodCapture& capture : captures) {
    const protocol::RecordRequest& request = capture.request.record;
    base::Json files = base::Json::array();
    for (const Output& output : capture.outputs) {
      if (output.keep == Output::Keep::kAlways) {
        files.push_back(output.path);
      }
    }
    list.push_back({{"namespace", capture.pod.namespace_name},
                    {"pod", capture.pod.name},
                    {"container", request.pod.container},
                    {"execIn", capture.access.container},
                    {"newEphemeralContainer", capture.access.kind == PodAccess::Kind::kNew},
                    {"access", attempts_json(capture.access)},
                    {"command", {"/jprof", "session"}},
                    {"duration", base::format_duration(request.duration)},
                    {"event", request.event},
                    {"files", files},
                    {"store", capture.store_url}});
  }
  for (const PodReport& report : refused) {
    list.push_back(report.to_json());
  }
  if (json) {
    std::printf("%s\n", base::dump_json({{"ok", refused.empty()}, {"plan", list}}).c_str());
    return;
  }
  for (const base::Json& item : list) {
    std::printf("%s\n", base::printable(base::dump_json(item), 8192).c_str());
  }
}

} // namespace jprof::plugin
