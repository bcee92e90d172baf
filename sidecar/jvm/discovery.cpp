// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/discovery.h"

#include "lib/base/deadline.h"
#include "lib/base/encoding.h"
#include "sidecar/container/access.h"
#include "sidecar/container/cgroup.h"
#include "sidecar/jvm/java_command.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using base::ErrorCode;
using container::Process;
using container::ProcRoot;

constexpr std::size_t kMapsBytes = 64U
                                   << 20U; // 500 000 mappings; the kernel's default limit is 65 530
constexpr std::size_t kThreadsLookedAt = 64; // a JVM makes its own threads first
constexpr std::chrono::seconds kStepTime{5};

// Names that HotSpot and OpenJ9 give to their own threads, cut to 15 bytes by the kernel.
constexpr std::array<std::string_view, 7> kVmThreads = {
    "VM Thread",       "Signal Dispatch", "VM Periodic Tas", "C2 CompilerThre",
    "Reference Handl", "JIT Compilation", "Attach API wait"};

bool threads_look_like_a_jvm(const Process& process) {
  const auto threads = process.list("task", kThreadsLookedAt);
  if (!threads) {
    return false;
  }
  int known = 0;
  for (const std::string& thread : *threads) {
    auto name = process.read("task/" + thread + "/comm", 64);
    if (!name) {
      continue;
    }
    while (!name->empty() && name->back() == '\n') {
      name->pop_back();
    }
    known += std::count(kVmThreads.begin(), kVmThreads.end(), *name) > 0 ? 1 : 0;
  }
  return known >= 2;
}

base::Result<container::LoadedVm> read_vm(const Process& process) {
  const auto deadline = base::Deadline::after(kStepTime);
  JPROF_TRY_ASSIGN(const base::UniqueFd maps,
                   container::open_guarded_file(process, "maps", deadline));
  container::VmFinder finder;
  JPROF_TRY(
      container::read_mappings(maps.get(), kMapsBytes, [&](const container::Mapping& mapping) {
        finder.add(mapping);
        return !deadline.expired();
      }));
  return finder.result();
}

bool denied(const base::Error& error) {
  return error.code == ErrorCode::kPermission || error.code == ErrorCode::kIdentityMismatch;
}

std::string describe(const Target& target) {
  const auto cmdline = target.process.read("cmdline", 1U << 20U);
  const std::string main = cmdline ? parse_java_command(*cmdline).main : std::string();
  return std::to_string(target.pid()) +
         (main.empty() ? std::string() : " (" + base::printable(main, 80) + ")");
}

std::string names_of(const std::vector<Candidate>& candidates) {
  std::string names;
  for (const Candidate& candidate : candidates) {
    names += (names.empty() ? "" : ", ") + describe(candidate.target);
  }
  return names;
}

base::Error elsewhere(std::string what, std::string_view container_id) {
  return base::make_error(ErrorCode::kTargetNotFound,
                          std::move(what) + " in the container with id " +
                              base::printable(container_id.substr(0, 12)),
                          "name the JVM's container, or the JVM by its PID; a container that was "
                          "started a moment ago may need another");
}

// Leaves the JVMs of one container, or otherwise those whose container nobody knows.
base::Status keep_those_in(std::vector<Candidate>& all, std::string_view container_id) {
  if (container_id.empty() || all.empty()) {
    return {};
  }
  std::vector<Candidate> inside;
  std::vector<Candidate> unknown;
  const std::string names = names_of(all);
  for (Candidate& candidate : all) {
    const std::string id = container::container_ids_of(candidate.target.process).container_id;
    if (id == container_id || id.empty()) {
      (id.empty() ? unknown : inside).push_back(std::move(candidate));
    }
  }
  if (inside.empty() && unknown.empty()) {
    return base::fail(
        elsewhere("of the JVMs that are visible (" + names + ") none is running", container_id));
  }
  all = std::move(inside.empty() ? unknown : inside);
  return {};
}

// REQUIRES: `all` is not empty.
base::Result<Target> only_usable(std::vector<Candidate> all) {
  std::optional<base::Error> denied = all.front().denied;
  std::erase_if(all, [](const Candidate& candidate) { return candidate.denied.has_value(); });
  if (all.empty()) {
    return base::fail(std::move(*denied));
  }
  if (all.size() > 1) {
    return base::make_failure(ErrorCode::kSeveralTargets,
                              "several JVMs are visible: " + names_of(all), "name one by its PID");
  }
  return std::move(all.front().target);
}

base::Result<Target> find_by_pid(const ProcRoot& proc, pid_t pid, std::string_view container_id) {
  JPROF_TRY_ASSIGN(std::optional<Candidate> found, look_at(proc, pid));
  if (!found) {
    JPROF_TRY_ASSIGN(const Process process, Process::open(proc, pid));
    JPROF_TRY_ASSIGN(const container::ProcessStatus status, process.status());
    const bool first_thread_ended = status.ended();
    if (process.ends_within(first_thread_ended ? Process::kEndTime
                                               : std::chrono::milliseconds(0))) {
      return base::fail(process.gone());
    }
    if (first_thread_ended) {
      // The kernel shows neither maps nor root of such a process, and HotSpot does not answer
      // there.
      return base::make_failure(ErrorCode::kNotAJvm,
                                "the first thread of pid " + std::to_string(pid) +
                                    " has ended while others run (pthread_exit in main), so that "
                                    "the kernel shows nothing of the process",
                                "let the program's first thread wait for the others");
    }
    return base::make_failure(ErrorCode::kNotAJvm,
                              "pid " + std::to_string(pid) + " (" + base::printable(status.name) +
                                  ") is not a JVM: no libjvm.so is mapped in it",
                              "'jprof list' shows the JVMs; one that was started a moment ago may "
                              "need another");
  }
  if (found->denied) {
    return base::fail(std::move(*found->denied));
  }
  if (!container_id.empty()) {
    const std::string id = container::container_ids_of(found->target.process).container_id;
    if (!id.empty() && id != container_id) {
      return base::fail(elsewhere("pid " + std::to_string(pid) + " does not run", container_id));
    }
  }
  return std::move(found->target);
}

} // namespace

base::Result<std::optional<Candidate>> look_at(const ProcRoot& proc, pid_t pid) {
  JPROF_TRY_ASSIGN(Process process, Process::open(proc, pid));
  JPROF_TRY_ASSIGN(container::ProcessStatus status, process.status());
  if (status.ended()) {
    return std::nullopt;
  }
  base::Result<container::LoadedVm> vm = read_vm(process);
  if (vm) {
    if (vm->vm == container::Vm::kNone) {
      return std::nullopt;
    }
    return Candidate{Target{std::move(process), std::move(status), std::move(*vm)}, false, {}};
  }
  if (!denied(vm.error())) {
    return base::fail(std::move(vm).error());
  }
  if (!threads_look_like_a_jvm(process)) {
    return std::nullopt;
  }
  return Candidate{Target{std::move(process), std::move(status), {}}, true, std::move(vm).error()};
}

base::Result<std::vector<Candidate>> find_jvms(const ProcRoot& proc) {
  JPROF_TRY_ASSIGN(const std::vector<pid_t> pids, proc.list_pids());
  std::vector<Candidate> found;
  for (const pid_t pid : pids) {
    if (pid == ::getpid()) {
      continue;
    }
    auto candidate = look_at(proc, pid);
    if (candidate && *candidate) { // an error is a process that ended, or that we cannot know
      found.push_back(std::move(**candidate));
    }
  }
  return found;
}

base::Result<std::vector<Candidate>> find_jvms() {
  JPROF_TRY_ASSIGN(const ProcRoot proc, ProcRoot::open());
  return find_jvms(proc);
}

base::Result<Target> find_one_jvm(const ProcRoot& proc, std::optional<pid_t> pid,
                                  std::string_view container_id) {
  if (pid) {
    return find_by_pid(proc, *pid, container_id);
  }
  JPROF_TRY_ASSIGN(std::vector<Candidate> all, find_jvms(proc));
  JPROF_TRY(keep_those_in(all, container_id));
  if (!all.empty()) {
    return only_usable(std::move(all));
  }
  return base::make_failure(
      ErrorCode::kTargetNotFound, "no JVM is visible from here",
      "a sidecar needs shareProcessNamespace: true in the pod, an ephemeral container a target "
      "container; a JVM that was started a moment ago may need another");
}

base::Result<Target> find_one_jvm(std::optional<pid_t> pid, std::string_view container_id) {
  JPROF_TRY_ASSIGN(const ProcRoot proc, ProcRoot::open());
  return find_one_jvm(proc, pid, container_id);
}

} // namespace jprof::jvm
