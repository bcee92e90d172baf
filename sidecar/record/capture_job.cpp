// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_job.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/mebibytes.h"
#include "lib/base/utf8.h"
#include "sidecar/container/access.h"
#include "sidecar/container/time_namespace.h"
#include "sidecar/inject/agent_link.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/jvm/java_command.h"
#include "sidecar/jvm/jvm_release.h"
#include "sidecar/record/capture_choices.h"
#include "sidecar/record/capture_outcome.h"
#include "sidecar/record/capture_room.h"
#include "sidecar/record/derived_files.h"
#include "sidecar/record/headroom.h"
#include "sidecar/record/memory_budget.h"
#include "sidecar/record/oom_kill.h"
#include "sidecar/record/recorder.h"
#include "sidecar/record/recording_file.h"
#include "sidecar/record/region_memory.h"
#include "sidecar/record/standstill.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/symbols/symbolizer.h"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <new>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace jprof::record {
namespace {

using base::ErrorCode;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kRootTimeout{5};
constexpr std::size_t kCommandBytes = 64U << 10;

std::string main_class_of(const jvm::Target& target) {
  const auto cmdline = target.process.read("cmdline", kCommandBytes);
  if (!cmdline) {
    return "java";
  }
  const std::string main = base::sanitize_utf8(jvm::parse_java_command(*cmdline).main);
  return main.empty() ? "java" : base::printable(main);
}

// When a JVM ends, whatever is being tried with it fails, in many ways. A stop, our own limits and
// a bad request fail for reasons of their own.
bool blames_target(const base::Error& error) {
  switch (error.code) {
  case ErrorCode::kInterrupted:
  case ErrorCode::kLimit:
  case ErrorCode::kUsage:
  case ErrorCode::kConfigInvalid:
    return false;
  default:
    return error.os_errno != ENOSPC && error.os_errno != EDQUOT && error.os_errno != EFBIG;
  }
}

struct SharedMemory {
  MemoryBudget budget;
  std::uint64_t bytes = 0;
  base::UniqueFd region;
};

// For work that must not keep the JVM from answering, and must not wait long on a busy node either:
// a third of the usual weight.
constexpr int kNiceness = 5;

long processors() {
  return std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
}

// While the JVM answers the attach request, if there is a processor for each. With two processors,
// the JVM's work keeps one busy and its answer needs the other: a thread of ours there costs it a
// time slice (bench/capture/run: timers armed 3 ms later).
std::launch when_to_share() {
  constexpr long kEnough = 3;
  return processors() >= kEnough ? std::launch::async | std::launch::deferred
                                 : std::launch::deferred;
}

base::Result<SharedMemory> share_memory(std::uint64_t region_bytes,
                                        std::optional<std::uint64_t> free_bytes) {
  const MemoryBudget budget = memory_budget(free_bytes);
  const std::uint64_t bytes = std::min(budget.region_bytes, region_bytes);
  JPROF_TRY_ASSIGN(base::UniqueFd region, make_region(bytes));
  return SharedMemory{budget, bytes, std::move(region)};
}

struct Opened {
  container::TargetRoot root;
  inject::AgentLink link;
};

// The steps of one capture; each fills in what it knows.
class Capture {
 public:
  Capture(const CaptureRequest& request, const ProgressCallback& progress, std::stop_token stop)
      : request_(request), room_(room_of(request)), progress_(progress), stop_(std::move(stop)) {}

  base::Result<CaptureOutcome> run() {
    JPROF_TRY(check_request(request_));
    JPROF_TRY_ASSIGN(const std::string agent_file, find_agent_file(request_.agent_file));
    report(CapturePhase::kFinding);
    JPROF_TRY_ASSIGN(jvm::Target target, find());
    JPROF_TRY(stop_if_asked());
    report(CapturePhase::kAttaching);
    JPROF_TRY_ASSIGN(RecordingFile file,
                     RecordingFile::create(request_.directory + '/' + kRecordingFile));
    file.limit_to(room_.files);
    base::Result<RecorderResult> result = record_from(target, agent_file, file);
    const base::Status kept =
        name_end_of(target.process, result ? judge(*result) : base::fail(result.error()));
    if (!kept) {
      file.remove();
      return base::fail(kept.error());
    }
    fill_outcome(*result, outcome_);
    seal(file);
    derive();
    report(CapturePhase::kDone);
    return std::move(outcome_);
  }

 private:
  void report(CapturePhase phase) const {
    if (progress_) {
      CaptureProgress progress;
      progress.phase = phase;
      progress.elapsed = outcome_.duration;
      progress.duration = request_.duration;
      progress.samples = outcome_.samples;
      progress_(progress);
    }
  }

  base::Status stop_if_asked() const {
    if (stop_.stop_requested()) {
      return base::make_failure(ErrorCode::kInterrupted, "stopped before the recording began");
    }
    return {};
  }

  // From here on, the processes that the kernel ends in its group are counted.
  base::Status watch(const container::Process& process) {
    JPROF_TRY_ASSIGN(container::TargetRoot root,
                     container::open_root(process, base::Deadline::after(kRootTimeout)));
    headroom_.emplace(container::own_memory_groups(), container::memory_groups_of(process, root),
                      surroundings(request_.pod_memory));
    root_ = std::move(root);
    watched_since_ = process.start_ticks();
    return {};
  }

  base::Result<jvm::Target> find() {
    JPROF_TRY_ASSIGN(const container::ProcRoot proc, container::ProcRoot::open());
    std::optional<container::Process> asked;
    if (request_.pid) { // it may be killed while we check whether it is a JVM
      JPROF_TRY_ASSIGN(asked, container::Process::open(proc, *request_.pid));
      (void)watch(*asked); // report what is in the way only for a JVM
    }
    base::Result<jvm::Target> found = jvm::find_one_jvm(proc, request_.pid, {});
    if (!found && asked) {
      JPROF_TRY(name_end_of(*asked, base::fail(found.error())));
    }
    return found;
  }

  // Returns `status`, or that the JVM has ended if that is the cause.
  base::Status name_end_of(const container::Process& process, base::Status status) const {
    const bool ended = !status && blames_target(status.error()) &&
                       process.ends_within(container::Process::kEndTime);
    return ended ? base::fail(gone(process)) : std::move(status);
  }

  // Before anything is done to the JVM, and before we take memory that it may need.
  base::Status look_for_memory(std::uint64_t region_bytes) {
    const Headroom& headroom = *headroom_;
    if (const base::Status enough = headroom.check(memory_need(region_bytes)); !enough) {
      if (!request_.force) {
        return base::fail(enough.error());
      }
      outcome_.notes.push_back("forced: " + enough.error().message);
    }
    if (!headroom.sees_target()) {
      outcome_.notes.push_back("it is unknown whether the JVM has memory left: " + headroom.text());
    }
    return {};
  }

  base::Result<inject::AgentLink> connect(const jvm::Target& target,
                                          const std::string& agent_file) const {
    inject::AgentOptions options;
    options.agent_file = agent_file;
    if (!request_.agent_volume.empty()) {
      options.volume = inject::SharedVolume{request_.agent_volume, {}};
    }
    options.stopped = [this] { return stop_.stop_requested(); };
    return inject::connect_agent(target, options);
  }

  void describe(const jvm::Target& target, const inject::AgentLink& link) {
    outcome_.pid = target.pid();
    outcome_.java_version = jvm::known_version(base::sanitize_utf8(link.hello.java_version));
    outcome_.agent_version = base::sanitize_utf8(link.hello.agent_version);
    outcome_.skipped_deliveries = link.skipped;
    if (!request_.agent_volume.empty() && link.source == inject::AgentSource::kCopy) {
      outcome_.notes.push_back("the agent's volume was not used: " + inject::volume_refusal(link));
    }
    if (!link.stays.empty()) {
      outcome_.notes.push_back("the agent's file remains at " + base::printable(link.stays) +
                               " while the JVM runs, since its C library (musl) would otherwise "
                               "map another copy; remove it once the JVM has ended");
    }
    if (link.handed_over) {
      outcome_.notes.push_back("an agent that was resident in the JVM (version " +
                               outcome_.agent_version + ") runs the capture");
    }
    const std::string main_class = main_class_of(target);
    info_.title = request_.title.empty()
                      ? main_class + " (pid " + std::to_string(outcome_.pid) + ")"
                      : request_.title;
    info_.facts = request_.facts;
    info_.facts.emplace_back("process", std::to_string(outcome_.pid) + " " + main_class);
    info_.facts.emplace_back("JVM", outcome_.java_version);
    info_.facts.emplace_back("agent", outcome_.agent_version);
  }

  // When it returns, nothing of the recording is left: the agent is free for the next one.
  base::Result<RecorderResult> record_from(const jvm::Target& target, const std::string& agent_file,
                                           RecordingFile& file) {
    if (!root_ || watched_since_ != target.process.start_ticks()) {
      JPROF_TRY(watch(target.process));
    }
    const std::uint64_t region = region_bytes_for({.interval = request_.interval,
                                                   .processors = processors(),
                                                   .threads = target.status.threads});
    JPROF_TRY(look_for_memory(region));
    shares_group_ = headroom_->shares_group();
    if (shares_group_) {
      file.leave_no_cache();
    }
    // A second thread gives way to the JVM if they do share a processor. If it is not wanted or
    // cannot be made, get() does the work.
    const pid_t caller = ::gettid();
    const auto free_bytes = lesser(available_memory(), headroom_->for_us());
    auto sharing = std::async(when_to_share(), [caller, region, free_bytes] {
      if (::gettid() != caller) {
        ::setpriority(PRIO_PROCESS, 0, kNiceness); // of this thread alone (setpriority(2))
      }
      return share_memory(region, free_bytes);
    });
    JPROF_TRY_ASSIGN(inject::AgentLink link, connect(target, agent_file));
    JPROF_TRY(stop_if_asked());
    Opened opened{*std::exchange(root_, std::nullopt), std::move(link)};
    JPROF_TRY_ASSIGN(const SharedMemory memory, sharing.get());
    describe(target, opened.link);
    return record_into(file, memory, opened, target);
  }

  base::Result<RecorderResult> record_into(RecordingFile& file, const SharedMemory& memory,
                                           Opened& opened, const jvm::Target& target) {
    symbols::Symbolizer symbolizer(
        [&opened](const std::string& path) { return opened.root.open_regular(path); });
    Standstill standstill(target.process);
    RecorderInput input;
    input.socket = opened.link.socket.get();
    input.region = memory.region.get();
    input.info = info_;
    input.sink = [&file](std::string_view bytes) { return file.append(bytes); };
    input.native.namer = [&symbolizer](std::uint64_t address, std::uint64_t when_ns) {
      symbols::AddressName name = symbolizer.name(address, when_ns);
      return NativeName{std::move(name.function), std::move(name.module),
                        std::move(name.parameters), name.belongs_to_vm};
    };
    input.native.set_modules = [&symbolizer](const std::vector<wire::ModuleSlot>& modules) {
      return symbolizer.set_modules(modules);
    };
    input.native.symbolizer = &symbolizer;
    input.standstill = [&standstill] { return standstill.look(Standstill::Clock::now()); };
    if (!request_.force) {
      input.shortage = [this] { return headroom_->shortage(); };
    }
    input.progress = progress_;
    input.on_start = [this, &opened] {
      opened.link.leftovers.reset();
      enter_sandbox(opened.root);
    };
    input.stop = stop_;
    input.why_stopped = request_.why_stopped;
    input.ended = [&target] { return !target.process.running(); };
    input.clock_ahead = container::monotonic_ahead(target.process);
    input.cpu_time = [&target] { return container::cpu_time(target.process); };
    input.why_gone = [this, &target] { return why_gone(target.process); };
    RecorderOptions options = options_of(request_);
    options.region_bytes = memory.bytes;
    options.limits.recording_bytes = std::min(options.limits.recording_bytes, room_.recording_ends);
    options.limits.dictionary_bytes = static_cast<std::size_t>(memory.budget.dictionary_bytes);
    base::Result<RecorderResult> result = record(input, options);
    outcome_.notes.insert(outcome_.notes.end(), symbolizer.notes().begin(),
                          symbolizer.notes().end());
    return result;
  }

  // What is read from here on has been written by a JVM that may be hostile.
  void enter_sandbox(const container::TargetRoot& root) {
    if (!request_.sandbox) {
      return;
    }
    base::sha256_hex(""); // its library looks for a configuration when it is first used
    sandbox::Paths paths;
    paths.writable = request_.writable;
    paths.readable = {"/proc", "/sys/fs/cgroup"};
    paths.readable_fds = {root.fd()};
    sandbox::Entered entered = sandbox::enter(paths);
    outcome_.sandbox_missing = std::move(entered.missing);
    if (!entered.system_calls) {
      outcome_.notes.push_back("the process that reads what the JVM wrote has no sandbox: " +
                               outcome_.sandbox_missing.back());
    }
  }

  // A capture without a sample is kept only if that is the truth about all of it.
  static base::Status judge(const RecorderResult& result) {
    if (result.samples > 0) {
      return {};
    }
    if (result.sink_error) {
      return base::fail(*result.sink_error);
    }
    if (result.interrupted) {
      return base::make_failure(ErrorCode::kInterrupted, "stopped before the first sample");
    }
    if (result.jvm_gone) {
      return base::make_failure(ErrorCode::kTargetGone, "the JVM ended before the first sample");
    }
    return {};
  }

  Ending why_gone(const container::Process& process) const {
    const std::optional<Ending> killed = oom_kill_of(process, headroom_, request_.force);
    return killed ? *killed : Ending{process.ending(), process.gone().cure};
  }

  base::Error gone(const container::Process& process) const {
    const std::optional<Ending> killed = oom_kill_of(process, headroom_, request_.force);
    return killed ? base::make_error(ErrorCode::kTargetGone,
                                     "process " + std::to_string(process.pid()) +
                                         " has ended: " + killed->cause,
                                     killed->cure)
                  : process.gone();
  }

  void seal(RecordingFile& file) {
    report(CapturePhase::kSealing);
    base::Status status = file.sync();
    if (status) {
      status = base::sync_directory(request_.directory);
    }
    if (!status) {
      outcome_.file_errors.push_back(status.error());
    }
    outcome_.files.push_back({kRecordingFile, "jprof", file.bytes(), file.sha256_hex()});
    outcome_.recording = file.release();
  }

  void derive() {
    if (!request_.formats.empty()) {
      report(CapturePhase::kRendering);
    }
    std::vector<std::string> paths = derive_files(request_, outcome_);
    paths.push_back(request_.directory + '/' + kRecordingFile);
    if (shares_group_) {
      for (const std::string& path : paths) {
        drop_from_cache(path);
      }
    }
  }

  const CaptureRequest& request_;
  const Room room_;
  std::optional<Headroom> headroom_;
  std::optional<container::TargetRoot> root_; // of the process that is watched
  std::uint64_t watched_since_ = 0;           // its start_ticks()
  bool shares_group_ = false;                 // with the JVM
  const ProgressCallback& progress_;
  std::stop_token stop_;
  profile::ProfileInfo info_;
  CaptureOutcome outcome_;
};

} // namespace

base::Result<std::string> find_agent_file(const std::string& asked) {
  if (!asked.empty()) {
    return asked;
  }
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string program(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string file = program.substr(0, program.rfind('/') + 1) + "libjprof.so";
  if (::access(file.c_str(), R_OK) != 0) {
    return base::make_failure(ErrorCode::kConfigInvalid, "cannot read the agent " + file,
                              "name it with --agent or JPROF_AGENT");
  }
  return file;
}

base::Result<CaptureOutcome> run_capture(const CaptureRequest& request,
                                         const ProgressCallback& progress, std::stop_token stop) {
  return Capture(request, progress, std::move(stop)).run();
}

} // namespace jprof::record
