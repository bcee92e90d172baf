// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/checks/check.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/pod_access.h"
#include "plugin/cluster/pod_access_options.h"
#include "plugin/cluster/pod_headroom.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/conversation/ask.h"

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
  std::string container;
  PodAccessFlags pod_access;
};

// Checks one pod, question by question; the first obstacle ends it, and the rest is skipped.
class Examination {
 public:
  Examination(kube::KubeClient& client, const DoctorOptions& options, PodAccessOptions access)
      : client_(client), options_(options), pod_access_options_(std::move(access)) {}

  std::vector<Check> run();
  // What explain() says; empty if it did not get that far.
  std::string explanation() const {
    return pod_ && access_ ? explain(*pod_, *access_) : std::string();
  }

 private:
  bool ask_pod();
  bool ask_exec();
  bool ask_access();
  bool ask_ephemeral();
  bool ask_headroom(const std::string& found);
  void ask_spec();
  bool ask_session();
  bool fail(CheckId id, const base::Error& error) {
    checks_.push_back(checks::fail(id, error));
    return false;
  }
  void pass(CheckId id, std::string detail) {
    checks_.push_back(checks::pass(id, std::move(detail)));
  }

  kube::KubeClient& client_;
  const DoctorOptions& options_;
  PodAccessOptions pod_access_options_;
  std::vector<Check> checks_;
  std::optional<kube::Pod> pod_;
  const kube::Container* jvm_ = nullptr; // of pod_; nullptr: several, none named
  std::optional<PodAccess> access_;
  std::string skipped_ = "not asked"; // why what follows is unknown
};

bool Examination::ask_pod() {
  Result<Targets> found =
      find_targets(client_, {.target = options_.target, .selector = {}, .max_pods = 1, .seed = {}});
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
  } else if (!pod_->ready) {
    checks_.push_back(checks::warn(CheckId::kPodRunning, pod_->name + " is not ready",
                                   "a JVM that is starting can be profiled once it answers"));
  } else {
    pass(CheckId::kPodRunning, pod_->name + " is " + pod_->phase + " on node " + pod_->node);
  }
  const auto jvm = kube::find_target(*pod_, options_.container);
  if (!jvm) {
    return fail(CheckId::kPodRunning, jvm.error());
  }
  jvm_ = *jvm;
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

// False: everything that can be learned without running something in the pod has been asked.
bool Examination::ask_access() {
  Result<PodAccess> access = find_access(*pod_, jvm_, pod_access_options_);
  if (!access && access.error().code == ErrorCode::kNoPlaceForAgent) {
    checks_.push_back(checks::skip(CheckId::kSidecarThere, "it would see the same"));
    checks_.push_back(checks::skip(CheckId::kEphemeral, "likewise"));
    return fail(CheckId::kPodSpec, access.error());
  }
  if (!access) {
    return fail(CheckId::kSidecarThere, access.error());
  }
  access_ = std::move(*access);
  if (access_->kind == PodAccess::Kind::kSidecar) {
    pass(CheckId::kSidecarThere, access_->attempts.back().why);
    checks_.push_back(checks::skip(CheckId::kEphemeral, "not needed"));
    checks_.push_back(checks::skip(CheckId::kPodSpec, "asked inside"));
    return true;
  }
  if (access_->kind == PodAccess::Kind::kReuse) {
    pass(CheckId::kSidecarThere, access_->attempts.back().why);
    if (!ask_headroom("it is there: ")) {
      return false;
    }
    checks_.push_back(checks::skip(CheckId::kPodSpec, "asked inside"));
    return true;
  }
  checks_.push_back(checks::warn(CheckId::kSidecarThere, access_->attempts.front().why,
                                 "with the sidecar (charts/jprof-sidecar) a capture starts sooner "
                                 "and leaves no record in the pod"));
  if (ask_ephemeral()) {
    ask_spec();
    skipped_ = "only a process in the pod can find out: kubectl jprof " + pod_->name +
               " adds the container and looks";
  }
  return false;
}

// The server's own verdict: rights, Pod Security and every other admission policy.
bool Examination::ask_ephemeral() {
  const Result<bool> allowed =
      client_.may(pod_->namespace_name, "patch", "pods", "ephemeralcontainers");
  if (!allowed) {
    return fail(CheckId::kEphemeral, allowed.error());
  }
  if (!*allowed) {
    return fail(CheckId::kEphemeral,
                base::make_error(
                    ErrorCode::kForbidden,
                    "patch on pods/ephemeralcontainers is not granted in " + pod_->namespace_name,
                    "add the sidecar to the pod's template, or kubectl -n " + pod_->namespace_name +
                        " create role jprof-ephemeral --verb=patch "
                        "--resource=pods/ephemeralcontainers, and bind it"));
  }
  const base::Status verdict =
      client_.add_ephemeral_container(*pod_, *access_->make, kube::PatchMode::kVerdictOnly);
  if (!verdict) {
    return fail(CheckId::kEphemeral, verdict.error());
  }
  return ask_headroom("the server would accept it, Pod Security included (dry run): " +
                      access_->attempts.back().why + "; ");
}

// Whether a capture through an ephemeral container would cost the JVM its memory.
bool Examination::ask_headroom(const std::string& found) {
  const PodHeadroom headroom = plugin::ask_headroom(client_, *pod_);
  const base::Status enough = check_headroom(*pod_, headroom);
  if (!enough && !pod_access_options_.force) {
    return fail(CheckId::kEphemeral, enough.error());
  }
  const std::string text = found + headroom_text(*pod_, headroom);
  checks_.push_back(
      enough ? checks::pass(CheckId::kEphemeral, text)
             : checks::warn(CheckId::kEphemeral, enough.error().message, enough.error().cure));
  return true;
}

void Examination::ask_spec() {
  if (access_->must_probe) {
    checks_.push_back(checks::warn(CheckId::kPodSpec,
                                   "the API does not say which user the JVM runs as: one ephemeral "
                                   "container checks, and a second one may follow",
                                   "set runAsUser and runAsGroup in the pod, or give --uid and "
                                   "--gid"));
  } else {
    pass(CheckId::kPodSpec, "/tmp is writable as far as the specification says");
  }
}

bool Examination::ask_session() {
  Result<std::unique_ptr<Interrupt>> interrupt = Interrupt::create();
  if (!interrupt) {
    return fail(CheckId::kSidecarVersion, interrupt.error());
  }
  Result<std::unique_ptr<Conversation>> conversation =
      open_conversation(client_, *pod_, access_->container, **interrupt);
  if (!conversation) {
    return fail(CheckId::kSidecarVersion, conversation.error());
  }
  pass(CheckId::kSidecarVersion,
       "jprof " + (*conversation)->peer().version + " in the pod, " + JPROF_VERSION + " here");
  protocol::Request request;
  request.kind = protocol::RequestKind::kTargets;
  request.targets.pod_memory = pod_->memory_limit.value_or(0);
  const auto targets = ask(**conversation, request);
  if (!targets) {
    return fail(CheckId::kProcess, targets.error());
  }
  if (targets->targets.empty()) {
    return fail(CheckId::kProcess,
                base::make_error(ErrorCode::kTargetNotFound, "the sidecar sees no JVM",
                                 "is one running in the pod, and is shareProcessNamespace true?"));
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
  for (const Step step : {&Examination::ask_pod, &Examination::ask_exec, &Examination::ask_access,
                          &Examination::ask_session}) {
    if (!(this->*step)()) {
      break;
    }
  }
  // Whatever comes after an obstacle was not checked, and says so.
  const int last = static_cast<int>(checks_.back().id);
  for (int id = last + 1; id <= static_cast<int>(CheckId::kLimits); ++id) {
    checks_.push_back(checks::skip(static_cast<CheckId>(id), skipped_));
    skipped_ = "likewise";
  }
  return std::move(checks_);
}

Result<int> doctor(const DoctorOptions& options, bool json) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<kube::KubeClient> client, connect(options.access));
  JPROF_TRY_ASSIGN(PodAccessOptions access, pod_access_options(options.pod_access, false));
  Examination examination(*client, options, std::move(access));
  const std::vector<Check> found = examination.run();
  if (options.pod_access.explain && !json) {
    std::fputs(examination.explanation().c_str(), stderr);
  }
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
  cli::Command command = program.add(
      {.name = "doctor",
       .summary =
           "Check what stands in the way of profiling a pod, and how to cure it; changes nothing",
       .examples = "  kubectl jprof doctor checkout-7d9f -n shop\n"
                   "  kubectl jprof doctor deploy/checkout --explain\n"},
      [options, &program] { return doctor(*options, program.json()); });
  command.option("target", options->target, "POD, pod/NAME, deploy/NAME, ...").required();
  command.option("-c,--container", options->container,
                 "Container of the JVM; default: the pod's only one");
  add_pod_access_options(command, options->pod_access);
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
