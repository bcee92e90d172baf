// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/doctor/examine.h"

#include "lib/base/deadline.h"
#include "lib/base/encoding.h"
#include "sidecar/container/access.h"
#include "sidecar/container/memory_group.h"
#include "sidecar/container/oom_order.h"
#include "sidecar/inject/place.h"
#include "sidecar/jvm/attach_socket.h"
#include "sidecar/record/headroom.h"
#include "sidecar/record/memory_budget.h"
#include "sidecar/sandbox/sandbox.h"

#include <algorithm>
#include <chrono>
#include <sys/prctl.h>

namespace jprof::doctor {
namespace {

using base::ErrorCode;
using checks::Check;
using checks::CheckId;
using container::TargetRoot;

constexpr std::chrono::seconds kStepTime{5};
constexpr std::uint64_t kAgentBytes = 256 * 1024; // what a copy may take; libjprof.so is smaller
constexpr int kOldest = 8;
constexpr int kNewest = 25;

std::string pids_of(const jvm::Target& target) {
  std::string text = target.name();
  if (target.innermost_pid() != target.pid()) {
    text += " (" + std::to_string(target.innermost_pid()) + " in its container)";
  }
  return text;
}

Check check_process(const jvm::Target& target) {
  const auto now = target.process.status();
  if (!now || now->ended()) {
    return checks::fail(CheckId::kProcess, target.process.gone());
  }
  if (now->state == 'T' || now->state == 't') {
    return checks::fail(
        CheckId::kProcess,
        base::make_error(ErrorCode::kAttachFailed,
                         target.name() +
                             (now->state == 'T' ? " is stopped" : " is held by a debugger"),
                         "let it run (kill -CONT) and try again"));
  }
  return checks::pass(CheckId::kProcess,
                      pids_of(target) + " runs with " + std::to_string(now->threads) + " threads");
}

std::string_view libc_word(container::Libc libc) {
  return libc == container::Libc::kMusl    ? "musl"
         : libc == container::Libc::kGlibc ? "glibc"
                                           : "unknown libc";
}

Check check_jvm(const jvm::Candidate& candidate, const jvm::JvmFacts& facts) {
  if (candidate.probable) {
    return checks::skip(CheckId::kJvm,
                        "its threads are a JVM's; more cannot be seen without access");
  }
  const container::LoadedVm& vm = candidate.target.vm;
  if (vm.vm == container::Vm::kOpenJ9) {
    return checks::fail(
        CheckId::kJvm,
        base::make_error(ErrorCode::kJvmUnsupported, "it is an OpenJ9 JVM",
                         "jprof profiles HotSpot JVMs, 8 to 25; jprof attach works with it"));
  }
  const std::string text =
      "HotSpot " + (facts.release.version.empty() ? "of unknown version" : facts.release.version) +
      (facts.release.vendor.empty() ? "" : ", " + facts.release.vendor) + ", " +
      std::string(libc_word(vm.libc)) + ", " + facts.release.arch;
  const int feature = facts.release.feature;
  if (feature == 0) {
    return checks::warn(
        CheckId::kJvm, text + ": neither its library nor the file release of its home says which",
        "check with jprof attach " + std::to_string(candidate.target.pid()) +
            " jcmd VM.version that it is Java 8 to 25, which jprof is made and tested for");
  }
  if (feature < kOldest || feature > kNewest) {
    return checks::warn(CheckId::kJvm, text, "jprof is made and tested for Java 8 to 25");
  }
  if (vm.library_deleted) {
    return checks::warn(CheckId::kJvm, text + "; its library was replaced on disk since it started",
                        "native names of the JVM may be missing: restart it");
  }
  constexpr int kFirstWithCpuSampler = 25; // JEP 509
  return checks::pass(CheckId::kJvm,
                      feature < kFirstWithCpuSampler
                          ? text
                          : text + "; JFR's CPU-time sampler (jdk.CPUTimeSample) refuses to start "
                                   "while a capture runs: start it before or after");
}

Check check_access(const jvm::Candidate& candidate) {
  if (candidate.denied) {
    return checks::fail(CheckId::kAccess, *candidate.denied);
  }
  const container::ProcessStatus& status = candidate.target.status;
  return checks::pass(CheckId::kAccess, "the JVM runs as " + std::to_string(status.effective_uid) +
                                            ":" + std::to_string(status.effective_gid) +
                                            " and its files are open to us");
}

// Runs a step with the target's ids, only for its result.
base::Status as_target(const jvm::Target& target, const std::function<base::Status()>& step) {
  return container::act_as(target.identity(), base::Deadline::after(kStepTime), step);
}

base::Status check_directory(const TargetRoot& root, const char* path, std::uint64_t bytes) {
  JPROF_TRY_ASSIGN(const base::UniqueFd directory, root.open_directory(path));
  return inject::check_place(directory.get(), bytes);
}

Check check_attach(const TargetRoot& root, const jvm::Target& target) {
  const auto looked =
      container::within(base::Deadline::after(kStepTime), [&]() -> base::Result<container::Handed> {
        JPROF_TRY(jvm::check_attachable(root, target));
        return container::Handed{{},
                                 jvm::has_attach_socket(root, target)
                                     ? "its attach socket is open"
                                     : "it opens its attach socket when asked"};
      });
  return looked ? checks::pass(CheckId::kAttach, looked->text)
                : checks::fail(CheckId::kAttach, looked.error());
}

Check check_tmp(const TargetRoot& root, const jvm::Target& target) {
  const base::Status writable = as_target(target, [&]() -> base::Status {
    JPROF_TRY_ASSIGN(const base::UniqueFd tmp, root.open_directory("/tmp"));
    return inject::check_writable(tmp.get());
  });
  if (!writable && writable.error().code == ErrorCode::kTimeout) {
    return checks::fail(CheckId::kTmp,
                        base::Error(writable.error()).with_context("the JVM's /tmp"));
  }
  if (!writable) {
    return checks::fail(CheckId::kTmp,
                        base::make_error(ErrorCode::kAttachFailed,
                                         "the JVM's /tmp: " + writable.error().message,
                                         "mount an emptyDir at /tmp of the JVM's container: a JVM "
                                         "makes its attach socket there"));
  }
  return checks::pass(CheckId::kTmp, "the JVM's /tmp is writable");
}

Check check_agents(const jvm::JvmFacts& facts) {
  if (const base::Status machine = jvm::check_machine(facts.release.arch); !machine) {
    return checks::fail(CheckId::kAgents, machine.error());
  }
  if (facts.flags.agents_disabled) {
    return checks::fail(
        CheckId::kAgents,
        base::make_error(
            ErrorCode::kAgentLoadingDisabled, "the JVM forbids loading agents while it runs",
            "remove -XX:-EnableDynamicAgentLoading from the JVM's options, or start it "
            "with -agentpath:<libjprof.so>"));
  }
  return checks::pass(CheckId::kAgents, "agents may be loaded");
}

Check check_place(const TargetRoot& root, const jvm::Target& target,
                  const std::optional<inject::SharedVolume>& volume) {
  std::string problems;
  if (!target.vm.agent_library.empty()) {
    return checks::pass(CheckId::kPlace, "the agent is in the JVM already");
  }
  if (volume) {
    const std::string& seen =
        volume->target_directory.empty() ? volume->directory : volume->target_directory;
    if (root.open_regular(seen + "/libjprof.so")) {
      return checks::pass(CheckId::kPlace, "the JVM sees " + seen + "/libjprof.so");
    }
    problems = seen + " is not mounted in the JVM's container; ";
  }
  if (const base::Status size = inject::check_size_limit(kAgentBytes); !size) {
    return checks::fail(CheckId::kPlace, size.error());
  }
  for (const char* directory : inject::kPlaces) {
    const base::Status usable =
        as_target(target, [&] { return check_directory(root, directory, kAgentBytes); });
    if (usable) {
      return checks::pass(CheckId::kPlace,
                          std::string("a copy goes into ") + directory + " of the JVM's container");
    }
    problems += std::string(directory) + ": " + usable.error().message + "; ";
  }
  problems.resize(problems.size() - 2);
  return checks::fail(CheckId::kPlace,
                      base::make_error(ErrorCode::kNoPlaceForAgent, problems,
                                       "mount an emptyDir at /tmp of the JVM's container, or share "
                                       "a volume that holds libjprof.so"));
}

Check check_profiler(const container::LoadedVm& vm) {
  if (!vm.other_profiler.empty()) {
    return checks::warn(CheckId::kOtherProfiler,
                        "the JVM holds " + base::printable(vm.other_profiler),
                        "both can record at once, but each slows the JVM, and sees the other's "
                        "work in its profile");
  }
  return checks::pass(CheckId::kOtherProfiler, !vm.agent_library.empty()
                                                   ? "jprof's own agent is resident"
                                                   : "no other profiler is loaded");
}

Check check_timers(const container::ProcessStatus& status) {
  const std::uint64_t limit = status.queued_signals_limit;
  const std::uint64_t free = limit - std::min(limit, status.queued_signals);
  const std::string text = std::to_string(status.threads) + " threads, " + std::to_string(free) +
                           " timers free for this uid";
  if (limit != 0 && status.threads > free / 2) { // the agent takes at most half
    return checks::warn(CheckId::kTimers, text,
                        "raise the limit on pending signals (ulimit -i); until then some threads "
                        "are not sampled, and counted as such");
  }
  return checks::pass(CheckId::kTimers, text);
}

// What a capture at the usual interval would be refused with, in the same words.
Check check_memory(const TargetRoot& root, const jvm::Target& target, std::uint64_t pod_memory) {
  const record::Headroom headroom(container::own_memory_groups(),
                                  container::memory_groups_of(target.process, root),
                                  record::surroundings(pod_memory));
  const record::MemoryNeed need =
      record::memory_need(record::default_region_bytes(target.status.threads));
  if (const base::Status enough = headroom.check(need); !enough) {
    return checks::fail(CheckId::kMemory, enough.error());
  }
  const auto ours = container::own_oom_order();
  const auto theirs = container::oom_order_of(target.process);
  const bool after = ours && theirs && *ours <= *theirs && *ours != container::kFirstToDie;
  if (after) {
    return checks::warn(CheckId::kMemory,
                        headroom.text() +
                            "; the kernel would not end jprof before the JVM "
                            "(oom_score_adj " +
                            std::to_string(*ours) + " and " + std::to_string(*theirs) + ")",
                        "a capture gives its memory back by itself where what it shares with the "
                        "JVM becomes short; a sidecar with a memory limit of its own shares none");
  }
  return checks::pass(CheckId::kMemory, headroom.text());
}

Check check_notice(const jvm::JvmFacts& facts, const container::LoadedVm& vm) {
  constexpr int kFirstWithNotice = 21; // JEP 451
  if (facts.release.feature >= kFirstWithNotice && !facts.flags.agents_announced &&
      vm.agent_library.empty()) {
    return checks::warn(CheckId::kNotice,
                        "loading the agent prints three lines on the JVM's standard error, once",
                        "-XX:+EnableDynamicAgentLoading in the JVM's options silences them");
  }
  return checks::pass(CheckId::kNotice, "loading the agent prints nothing");
}

// No warning: most profiles do not need it, and a capture says how much of its time lacks it.
Check check_inlining(const jvm::JvmFacts& facts) {
  return checks::pass(
      CheckId::kInlining,
      facts.flags.inlining_detailed
          ? "DebugNonSafepoints is on: inlined methods are known in all compiled code"
          : "DebugNonSafepoints is off: in code compiled before a capture, lines and inlined "
            "methods may be missing, unless the JVM starts with -XX:+UnlockDiagnosticVMOptions "
            "-XX:+DebugNonSafepoints");
}

Check check_self() {
  if (::prctl(PR_GET_DUMPABLE) == 1) {
    return checks::warn(CheckId::kSelf, "this jprof can be read by processes of its uid",
                        "this is a bug in jprof: please report it");
  }
  return checks::pass(CheckId::kSelf, "processes of our uid cannot read this jprof");
}

// What a reader of the JVM's bytes can be kept from here, found out by a process that then ends.
Check check_sandbox() {
  const auto tried =
      container::within(base::Deadline::after(kStepTime), []() -> base::Result<container::Handed> {
        const sandbox::Entered entered = sandbox::enter({});
        std::string text = entered.system_calls ? "seccomp" : "";
        text += entered.paths ? (text.empty() ? "Landlock" : " and Landlock") : "";
        text = text.empty() ? "nothing is in force" : text + " in force";
        for (const std::string& missing : entered.missing) {
          text += "; " + missing;
        }
        return container::Handed{{}, (entered.system_calls ? "+" : "-") + text};
      });
  if (!tried || tried->text.empty()) {
    return checks::skip(CheckId::kSandbox, "could not be tried");
  }
  const std::string text = "where a JVM's bytes are read: " + tried->text.substr(1);
  return tried->text[0] == '+'
             ? checks::pass(CheckId::kSandbox, text)
             : checks::warn(CheckId::kSandbox, text,
                            "allow the jprof container seccomp(2) and no_new_privs; RuntimeDefault "
                            "of Kubernetes does");
}

} // namespace

const Check* Examination::obstacle() const {
  const auto found = std::find_if(checks.begin(), checks.end(), [](const Check& check) {
    return check.verdict == checks::Verdict::kFail;
  });
  return found == checks.end() ? nullptr : &*found;
}

Examination examine(jvm::Candidate candidate, const std::optional<inject::SharedVolume>& volume,
                    std::uint64_t pod_memory) {
  Examination result;
  result.pid = candidate.target.pid();
  result.facts = jvm::read_facts(candidate.target);
  const jvm::Target& target = candidate.target;
  std::vector<Check>& list = result.checks;
  list.push_back(check_process(target));
  list.push_back(check_jvm(candidate, result.facts));
  list.push_back(check_access(candidate));
  auto root = container::open_root(target.process, base::Deadline::after(kStepTime));
  if (root && !candidate.denied) {
    list.push_back(check_attach(*root, target));
    list.push_back(check_tmp(*root, target));
    list.push_back(check_agents(result.facts));
    list.push_back(check_place(*root, target, volume));
    list.push_back(check_profiler(target.vm));
    list.push_back(check_timers(target.status));
    list.push_back(check_memory(*root, target, pod_memory));
    list.push_back(check_notice(result.facts, target.vm));
    list.push_back(check_inlining(result.facts));
  } else {
    for (const CheckId id : {CheckId::kAttach, CheckId::kTmp, CheckId::kAgents, CheckId::kPlace,
                             CheckId::kOtherProfiler, CheckId::kTimers, CheckId::kMemory,
                             CheckId::kNotice, CheckId::kInlining}) {
      list.push_back(checks::skip(id, "cannot be seen without access"));
    }
  }
  list.push_back(check_self());
  list.push_back(check_sandbox());
  result.candidate = std::move(candidate);
  return result;
}

Examination examine(const container::ProcRoot& proc, pid_t pid,
                    const std::optional<inject::SharedVolume>& volume) {
  auto found = jvm::look_at(proc, pid);
  if (found && *found) {
    return examine(std::move(**found), volume);
  }
  Examination result;
  result.pid = pid;
  const auto target = jvm::find_one_jvm(proc, pid);
  const base::Error error = !target ? target.error()
                                    : base::make_error(ErrorCode::kTargetNotFound,
                                                       "pid " + std::to_string(pid) + " changed");
  const CheckId id = error.code == ErrorCode::kNotAJvm ? CheckId::kJvm : CheckId::kProcess;
  result.checks.push_back(checks::fail(id, error));
  return result;
}

} // namespace jprof::doctor
