// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/checks/check.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/session/ask.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using checks::Check;
using checks::CheckId;

struct DoctorOptions {
  kube::AccessOptions access;
  std::string target;
};

// One pod, asked question after question; the first that stands in the way ends it, and the rest
// are skipped.
class Examination {
 public:
  Examination(kube::KubeClient& client, std::string target)
      : client_(client), target_(std::move(target)) {}

  std::vector<Check> run();

 private:
  bool ask_pod();
  bool ask_exec();
  bool ask_sidecar();
  bool ask_session();
  bool fail(CheckId id, const base::Error& error) {
    checks_.push_back(checks::fail(id, error));
    return false;
  }
  void pass(CheckId id, std::string detail) {
    checks_.push_back(checks::pass(id, std::move(detail)));
  }

  kube::KubeClient& client_;
  std::string target_;
  std::vector<Check> checks_;
  std::optional<kube::Pod> pod_;
  std::string sidecar_;
};

bool Examination::ask_pod() {
  Result<Targets> found =
      find_targets(client_, {.target = target_, .selector = {}, .max_pods = 1, .seed = {}});
  if (!found) {
    const base::Error& error = found.error();
    const bool answered = error.code == ErrorCode::kTargetNotFound ||
                          error.code == ErrorCode::kForbidden ||
                          error.code == ErrorCode::kTargetGone;
    if (answered) {
      pass(CheckId::kClusterReachable, client_.access().server);
    }
    return fail(answered ? CheckId::kPodRunning : CheckId::kClusterReachable, error);
  }
  pass(CheckId::kClusterReachable, client_.access().server);
  pod_ = std::move(found->pods.front());
  if (pod_->terminating) {
    checks_.push_back(checks::warn(CheckId::kPodRunning, pod_->name + " is being deleted",
                                   "what is captured now may be cut short"));
  } else {
    pass(CheckId::kPodRunning, pod_->name + " is " + pod_->phase + " on node " + pod_->node);
  }
  return true;
}

bool Examination::ask_exec() {
  std::string missing;
  for (const char* verb : {"get", "create"}) {
    const Result<bool> allowed = client_.may(pod_->namespace_name, verb, "pods", "exec");
    if (!allowed) {
      return fail(CheckId::kExecAllowed, allowed.error());
    }
    if (!*allowed) {
      missing += (missing.empty() ? "" : " and ") + std::string(verb);
    }
  }
  if (missing.empty()) {
    pass(CheckId::kExecAllowed, "get and create on pods/exec are granted");
    return true;
  }
  const base::Error error = base::make_error(
      ErrorCode::kForbidden, missing + " on pods/exec is not granted in " + pod_->namespace_name,
      "kubectl -n " + pod_->namespace_name +
          " create role jprof --verb=get,create --resource=pods,pods/exec, and bind it");
  if (missing == "get and create") {
    return fail(CheckId::kExecAllowed, error);
  }
  // Kubernetes up to 1.34 asks for get, from 1.35 on for create as well.
  checks_.push_back(checks::warn(CheckId::kExecAllowed, error.message, error.cure));
  return true;
}

bool Examination::ask_sidecar() {
  const Result<const kube::Container*> sidecar = kube::find_sidecar(*pod_);
  if (!sidecar) {
    return fail(CheckId::kSidecarThere, sidecar.error());
  }
  sidecar_ = (*sidecar)->name;
  // Without it the sidecar sees no process but its own, unless it was made to target the JVM's.
  if (!pod_->share_process_namespace && (*sidecar)->kind != kube::Container::Kind::kEphemeral) {
    checks_.push_back(checks::warn(CheckId::kSidecarThere,
                                   "container " + sidecar_ +
                                       " runs, but the pod's containers do "
                                       "not see each other's processes",
                                   "set shareProcessNamespace: true in the pod's template"));
  } else {
    pass(CheckId::kSidecarThere, "container " + sidecar_ + " runs");
  }
  return true;
}

bool Examination::ask_session() {
  Result<std::unique_ptr<Interrupt>> interrupt = Interrupt::create();
  if (!interrupt) {
    return fail(CheckId::kSidecarVersion, interrupt.error());
  }
  Result<std::unique_ptr<Session>> session = open_session(client_, *pod_, sidecar_, **interrupt);
  if (!session) {
    return fail(CheckId::kSidecarVersion, session.error());
  }
  pass(CheckId::kSidecarVersion,
       "jprof " + (*session)->peer().version + " in the pod, " + JPROF_VERSION + " here");
  const auto targets = ask(**session, control::RequestKind::kTargets);
  if (!targets) {
    return fail(CheckId::kProcess, targets.error());
  }
  if (targets->targets.empty()) {
    return fail(CheckId::kProcess,
                base::make_error(ErrorCode::kTargetNotFound, "the sidecar sees no JVM",
                                 "does one run in the pod, and is shareProcessNamespace: true?"));
  }
  for (const base::Json& jvm : targets->targets) {
    Result<std::vector<Check>> rows = checks::from_json(base::json_array(jvm, "checks"));
    if (!rows) {
      return fail(CheckId::kProcess, rows.error());
    }
    std::move(rows->begin(), rows->end(), std::back_inserter(checks_));
  }
  return true;
}

std::vector<Check> Examination::run() {
  using Step = bool (Examination::*)();
  for (const Step step : {&Examination::ask_pod, &Examination::ask_exec, &Examination::ask_sidecar,
                          &Examination::ask_session}) {
    if (!(this->*step)()) {
      break;
    }
  }
  // What lies behind an obstacle was not asked, and says so.
  const int last = static_cast<int>(checks_.back().id);
  for (int id = last + 1; id <= static_cast<int>(CheckId::kSelf); ++id) {
    checks_.push_back(checks::skip(static_cast<CheckId>(id), "not asked"));
  }
  return std::move(checks_);
}

Result<int> doctor(const DoctorOptions& options, bool json) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<kube::KubeClient> client, connect(options.access));
  const std::vector<Check> found = Examination(*client, options.target).run();
  const int code = checks::exit_code(found);
  if (json) {
    const base::Json out = {
        {"ok", code == 0}, {"exitCode", code}, {"checks", checks::to_json(found)}};
    std::printf("%s\n", base::dump_json(out).c_str());
    return code;
  }
  const bool color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  const std::string text = checks::to_text(found, color ? checks::Color::kYes : checks::Color::kNo);
  std::fputs(text.c_str(), stdout);
  return code;
}

} // namespace

void add_doctor(cli::Program& program) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& command = program.add(
      {.name = "doctor",
       .summary = "Say what stands in the way of profiling a pod, and the cure; changes nothing",
       .examples = "  kubectl jprof doctor checkout-7d9f -n shop\n"},
      [options, &program] { return doctor(*options, program.json()); });
  command.add_option("target", options->target, "POD, pod/NAME, deploy/NAME, ...")->required();
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
