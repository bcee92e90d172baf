// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/pod_access.h"

#include "lib/base/encoding.h"
#include "lib/base/random.h"

#include <algorithm>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using Ephemeral = PodAccessOptions::Ephemeral;
using State = kube::Container::State;

constexpr std::size_t kNameCharacters = 8;
constexpr const char* kProbeIdle = "30s";

std::string ids_text(const kube::Ids& ids) {
  const auto one = [](std::optional<std::int64_t> id) { return id ? std::to_string(*id) : "?"; };
  return "uid " + one(ids.uid) + ", gid " + one(ids.gid);
}

bool is_known(const kube::Ids& ids) {
  return ids.uid && ids.gid;
}

bool shares_processes(const kube::Pod& pod) {
  return pod.share_process_namespace || pod.host_pid;
}

// The ids that the new container needs: those that the user gave, otherwise those that the API
// knows.
kube::Ids wanted_ids(const kube::Pod& pod, const kube::Container* target,
                     const PodAccessOptions& options) {
  kube::Ids out = target == nullptr ? pod.wanted : kube::ids_of(pod, *target);
  out.uid = options.ids.uid ? options.ids.uid : out.uid;
  out.gid = options.ids.gid ? options.ids.gid : out.gid;
  return out;
}

// kubectl debug and exec take the first one, too.
const kube::Container* first_container(const kube::Pod& pod) {
  const auto found = std::find_if(pod.containers.begin(), pod.containers.end(), [](const auto& c) {
    return c.kind == kube::Container::Kind::kApp && !kube::is_jprof(c);
  });
  return found == pod.containers.end() ? nullptr : &*found;
}

// A capability that was requested must be there; more does no harm, since it is there already.
bool has_capability(const kube::Container& container, const std::string& wanted) {
  const auto& all = container.capabilities;
  return wanted.empty() || std::find(all.begin(), all.end(), wanted) != all.end();
}

class AccessSearch {
 public:
  // `gone` are containers that the API still calls running.
  AccessSearch(const kube::Pod& pod, const kube::Container* target, const PodAccessOptions& options,
               std::vector<std::string> gone)
      : pod_(pod), target_(target), options_(options), ids_(wanted_ids(pod, target, options)),
        gone_(std::move(gone)) {}

  Result<PodAccess> run() {
    if (try_sidecar()) {
      return std::move(access_);
    }
    if (try_reuse()) {
      look_further();
      return std::move(access_);
    }
    JPROF_TRY(check_tmp());
    JPROF_TRY_ASSIGN(const bool made, try_new());
    if (made) {
      return std::move(access_);
    }
    return base::fail(nothing_left());
  }

 private:
  bool skip(const char* name, std::string why) {
    access_.attempts.push_back({name, false, std::move(why)});
    return false;
  }
  bool take(PodAccess::Kind kind, const char* name, const std::string& container, std::string why) {
    access_.kind = kind;
    access_.container = container;
    access_.attempts.push_back({name, true, std::move(why)});
    return true;
  }

  bool try_sidecar();
  bool try_reuse();
  // Why this container of ours cannot be used again; empty: it can.
  std::string misfit(const kube::Container& one) const;
  void look_further();
  base::Status check_tmp() const;
  Result<bool> try_new();
  std::string obstacle() const;
  base::Error nothing_left() const;

  const kube::Pod& pod_;
  const kube::Container* target_;
  const PodAccessOptions& options_;
  kube::Ids ids_;
  std::vector<std::string> gone_;
  PodAccess access_;
};

bool AccessSearch::try_sidecar() {
  constexpr const char* kName = "sidecar";
  const kube::Container* sidecar = pod_.find("jprof");
  if (sidecar == nullptr) {
    return skip(kName, "the pod has no container jprof");
  }
  if (options_.ephemeral == Ephemeral::kAlways) {
    return skip(kName, "--ephemeral=always");
  }
  if (sidecar->state != State::kRunning) {
    return skip(kName, "container jprof is not running" +
                           (sidecar->state_reason.empty()
                                ? std::string()
                                : ": " + base::printable(sidecar->state_reason)));
  }
  // The user wants a sidecar and nothing else: let it report itself what it cannot see.
  if (!shares_processes(pod_) && options_.ephemeral == Ephemeral::kAuto) {
    return skip(kName,
                "container jprof is running but cannot see the JVM: shareProcessNamespace is not "
                "set in the pod");
  }
  if (!has_capability(*sidecar, options_.capability)) {
    return skip(kName, "container jprof is running without the capability " + options_.capability);
  }
  return take(PodAccess::Kind::kSidecar, kName, sidecar->name, "container jprof is running");
}

bool AccessSearch::try_reuse() {
  constexpr const char* kName = "live ephemeral container";
  if (options_.ephemeral != Ephemeral::kAuto) {
    return skip(kName, options_.ephemeral == Ephemeral::kNever ? "--ephemeral=never"
                                                               : "--ephemeral=always");
  }
  std::string why = "none of ours is running";
  for (const kube::Container& one : pod_.containers) {
    if (one.kind != kube::Container::Kind::kEphemeral || !kube::is_jprof(one) ||
        one.state != State::kRunning) {
      continue;
    }
    const std::string misfits = misfit(one);
    if (misfits.empty()) {
      return take(PodAccess::Kind::kReuse, kName, one.name,
                  one.name + " runs and has the JVM's ids");
    }
    why = one.name + " " + misfits;
  }
  return skip(kName, why);
}

std::string AccessSearch::misfit(const kube::Container& one) const {
  const auto differs = [](const std::optional<std::int64_t>& a,
                          const std::optional<std::int64_t>& b) { return a && b && *a != *b; };
  if (std::find(gone_.begin(), gone_.end(), one.name) != gone_.end()) {
    return "has ended";
  }
  if (!shares_processes(pod_) && target_ != nullptr && one.target != target_->name) {
    return "was made for container " + base::printable(one.target);
  }
  // One with the image's own user was made only to find out the ids.
  if (!one.wanted.uid || differs(one.wanted.uid, ids_.uid) || differs(one.wanted.gid, ids_.gid)) {
    return "runs as another user (" + ids_text(one.wanted) + ")";
  }
  if (!has_capability(one, options_.capability)) {
    return "runs without the capability " + options_.capability;
  }
  if (options_.image_named && one.image != options_.image) {
    return "runs another image (" + base::printable(one.image) + ")";
  }
  return {};
}

void AccessSearch::look_further() {
  std::vector<std::string> gone = gone_;
  gone.push_back(access_.container);
  if (Result<PodAccess> next = AccessSearch(pod_, target_, options_, std::move(gone)).run()) {
    access_.if_gone = std::make_shared<const PodAccess>(std::move(*next));
  }
}

// HotSpot takes commands in its /tmp: if nothing can be written there, no container of ours helps.
base::Status AccessSearch::check_tmp() const {
  const kube::Container* target = target_ != nullptr ? target_ : first_container(pod_);
  if (target == nullptr || !target->read_only_root || target->tmp_volume || !obstacle().empty()) {
    return {};
  }
  return base::make_failure(ErrorCode::kNoPlaceForAgent,
                            "container " + base::printable(target->name) +
                                " has a read-only root and no volume at /tmp, where HotSpot takes "
                                "commands; so no ephemeral container is added",
                            "mount an emptyDir at /tmp of that container");
}

// Why no ephemeral container can be added to this pod.
std::string AccessSearch::obstacle() const {
  if (options_.ephemeral == Ephemeral::kNever) {
    return "--ephemeral=never";
  }
  if (pod_.mirror) {
    return "a static pod cannot be changed through the API";
  }
  if (pod_.terminating) {
    return "the pod is being deleted";
  }
  if (options_.image.empty()) {
    return "this build names no image";
  }
  return {};
}

Result<bool> AccessSearch::try_new() {
  constexpr const char* kName = "new ephemeral container";
  if (std::string why = obstacle(); !why.empty()) {
    return skip(kName, std::move(why));
  }
  const kube::Container* target = target_ != nullptr ? target_ : first_container(pod_);
  if (target != target_) {
    ids_ = wanted_ids(pod_, target, options_);
  }
  kube::EphemeralContainer one;
  JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(kNameCharacters));
  one.name = "jprof-" + suffix;
  one.image = options_.image;
  one.pull_policy = options_.pull_policy;
  one.target = target == nullptr ? "" : target->name;
  one.capability = options_.capability;
  access_.must_probe = !is_known(ids_);
  if (access_.must_probe) {
    one.idle_exit = kProbeIdle;
  } else {
    one.ids = ids_;
  }
  std::string why =
      access_.must_probe
          ? "first one that checks which user the JVM runs as: the API says " + ids_text(ids_)
          : "with " + ids_text(ids_);
  why += one.capability.empty() ? ", no capability" : ", capability " + one.capability;
  if (!one.target.empty()) {
    why += ", in the process namespace of container " + base::printable(one.target) +
           (target_ == nullptr ? " (the first one; -c names another)" : "");
  }
  take(PodAccess::Kind::kNew, kName, one.name, std::move(why));
  access_.make = std::move(one);
  return true;
}

base::Error AccessSearch::nothing_left() const {
  std::string why;
  for (const PodAccess::Attempt& attempt : access_.attempts) {
    why += (why.empty() ? "" : "; ") + attempt.name + ": " + attempt.why;
  }
  // If nothing else is in the way, it is the image.
  const bool image = options_.image.empty() && options_.ephemeral != Ephemeral::kNever &&
                     !pod_.mirror && !pod_.terminating;
  return base::make_error(
      ErrorCode::kNoSidecar,
      "there is no way into pod " + base::printable(pod_.namespace_name) + "/" +
          base::printable(pod_.name) + " (" + why + ")",
      image ? "name a jprof image that the cluster's nodes can pull, preferably by its digest: "
              "--image "
              "REGISTRY/jprof@sha256:... or JPROF_IMAGE; or add the sidecar to the pod's template "
              "(charts/jprof-sidecar)"
            : "add the sidecar to its template (charts/jprof-sidecar), or allow an ephemeral "
              "container (--ephemeral=auto)");
}

} // namespace

Result<PodAccess> find_access(const kube::Pod& pod, const kube::Container* target,
                              const PodAccessOptions& options) {
  return AccessSearch(pod, target, options, {}).run();
}

Result<kube::EphemeralContainer> with_ids(const kube::EphemeralContainer& probe,
                                          const kube::Ids& ids) {
  kube::EphemeralContainer out = probe;
  JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(kNameCharacters));
  out.name = "jprof-" + suffix;
  out.ids = ids;
  out.idle_exit = kube::EphemeralContainer().idle_exit;
  return out;
}

std::string explain(const kube::Pod& pod, const PodAccess& access) {
  std::string out = "pod " + base::printable(pod.namespace_name) + "/" + base::printable(pod.name) +
                    ", container " + base::printable(access.container) + ":\n";
  for (const PodAccess::Attempt& attempt : access.attempts) {
    out += std::string(attempt.taken ? "  taken    " : "  skipped  ") + attempt.name + ": " +
           attempt.why + "\n";
  }
  return out;
}

std::string announcement(const kube::Pod& pod, const PodAccess& access) {
  if (access.kind != PodAccess::Kind::kNew) {
    return {};
  }
  const std::string where =
      base::printable(pod.namespace_name) + "/" + base::printable(pod.name) + ": ";
  return where + "adding ephemeral container " + access.container + " (" +
         (access.must_probe
              ? std::string("the API does not say which user the JVM runs as: this one checks, and "
                            "a second one may follow; --uid and --gid avoid that")
              : ids_text(access.make->ids)) +
         "); Kubernetes keeps its record until the pod is gone\n";
}

} // namespace jprof::plugin
