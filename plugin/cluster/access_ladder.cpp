// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/access_ladder.h"

#include "lib/base/encoding.h"
#include "lib/base/random.h"

#include <algorithm>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using Ephemeral = LadderOptions::Ephemeral;
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

// Whom the new container has to be: what the user said, then what the API knows.
kube::Ids wanted_ids(const kube::Pod& pod, const kube::Container* target,
                     const LadderOptions& options) {
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

// One that was asked for must be there; more than that does no harm, since it is there already.
bool has_capability(const kube::Container& container, const std::string& wanted) {
  const auto& all = container.capabilities;
  return wanted.empty() || std::find(all.begin(), all.end(), wanted) != all.end();
}

class Ladder {
 public:
  // `gone` are containers that the API still calls running.
  Ladder(const kube::Pod& pod, const kube::Container* target, const LadderOptions& options,
         std::vector<std::string> gone)
      : pod_(pod), target_(target), options_(options), ids_(wanted_ids(pod, target, options)),
        gone_(std::move(gone)) {}

  Result<Way> climb() {
    if (try_sidecar()) {
      return std::move(way_);
    }
    if (try_reuse()) {
      look_further();
      return std::move(way_);
    }
    JPROF_TRY(check_tmp());
    JPROF_TRY_ASSIGN(const bool made, try_new());
    if (made) {
      return std::move(way_);
    }
    return base::fail(nothing_left());
  }

 private:
  bool skip(const char* rung, std::string why) {
    way_.rungs.push_back({rung, false, std::move(why)});
    return false;
  }
  bool take(Way::Kind kind, const char* rung, const std::string& container, std::string why) {
    way_.kind = kind;
    way_.container = container;
    way_.rungs.push_back({rung, true, std::move(why)});
    return true;
  }

  bool try_sidecar();
  bool try_reuse();
  // Why this one of ours cannot be used again; empty: it can.
  std::string misfit(const kube::Container& one) const;
  void look_further();
  base::Status check_tmp() const;
  Result<bool> try_new();
  std::string obstacle() const;
  base::Error nothing_left() const;

  const kube::Pod& pod_;
  const kube::Container* target_;
  const LadderOptions& options_;
  kube::Ids ids_;
  std::vector<std::string> gone_;
  Way way_;
};

bool Ladder::try_sidecar() {
  constexpr const char* kRung = "sidecar";
  const kube::Container* sidecar = pod_.find("jprof");
  if (sidecar == nullptr) {
    return skip(kRung, "the pod has no container jprof");
  }
  if (options_.ephemeral == Ephemeral::kAlways) {
    return skip(kRung, "--ephemeral=always");
  }
  if (sidecar->state != State::kRunning) {
    return skip(kRung, "container jprof is not running" +
                           (sidecar->state_reason.empty()
                                ? std::string()
                                : ": " + base::printable(sidecar->state_reason)));
  }
  // Asked for a sidecar and nothing else: let it say itself what it cannot see.
  if (!shares_processes(pod_) && options_.ephemeral == Ephemeral::kAuto) {
    return skip(kRung,
                "container jprof is running but cannot see the JVM: shareProcessNamespace is not "
                "set in the pod");
  }
  if (!has_capability(*sidecar, options_.capability)) {
    return skip(kRung, "container jprof is running without the capability " + options_.capability);
  }
  return take(Way::Kind::kSidecar, kRung, sidecar->name, "container jprof is running");
}

bool Ladder::try_reuse() {
  constexpr const char* kRung = "live ephemeral container";
  if (options_.ephemeral != Ephemeral::kAuto) {
    return skip(kRung, options_.ephemeral == Ephemeral::kNever ? "--ephemeral=never"
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
      return take(Way::Kind::kReuse, kRung, one.name, one.name + " runs and has the JVM's ids");
    }
    why = one.name + " " + misfits;
  }
  return skip(kRung, why);
}

std::string Ladder::misfit(const kube::Container& one) const {
  const auto differs = [](const std::optional<std::int64_t>& a,
                          const std::optional<std::int64_t>& b) { return a && b && *a != *b; };
  if (std::find(gone_.begin(), gone_.end(), one.name) != gone_.end()) {
    return "has ended";
  }
  if (!shares_processes(pod_) && target_ != nullptr && one.target != target_->name) {
    return "was made for container " + base::printable(one.target);
  }
  // One with the image's own user was made to look only.
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

void Ladder::look_further() {
  std::vector<std::string> gone = gone_;
  gone.push_back(way_.container);
  if (Result<Way> next = Ladder(pod_, target_, options_, std::move(gone)).climb()) {
    way_.if_gone = std::make_shared<const Way>(std::move(*next));
  }
}

// HotSpot takes commands in its /tmp: where nothing can be written there no container of ours
// helps.
base::Status Ladder::check_tmp() const {
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
std::string Ladder::obstacle() const {
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

Result<bool> Ladder::try_new() {
  constexpr const char* kRung = "new ephemeral container";
  if (std::string why = obstacle(); !why.empty()) {
    return skip(kRung, std::move(why));
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
  way_.must_probe = !is_known(ids_);
  if (way_.must_probe) {
    one.idle_exit = kProbeIdle;
  } else {
    one.ids = ids_;
  }
  std::string why =
      way_.must_probe
          ? "first one that checks which user the JVM runs as: the API says " + ids_text(ids_)
          : "with " + ids_text(ids_);
  why += one.capability.empty() ? ", no capability" : ", capability " + one.capability;
  if (!one.target.empty()) {
    why += ", in the process namespace of container " + base::printable(one.target) +
           (target_ == nullptr ? " (the first one; -c names another)" : "");
  }
  take(Way::Kind::kNew, kRung, one.name, std::move(why));
  way_.make = std::move(one);
  return true;
}

base::Error Ladder::nothing_left() const {
  std::string why;
  for (const Way::Rung& rung : way_.rungs) {
    why += (why.empty() ? "" : "; ") + rung.name + ": " + rung.why;
  }
  // Where nothing else is in the way it is the image.
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

Result<Way> find_way(const kube::Pod& pod, const kube::Container* target,
                     const LadderOptions& options) {
  return Ladder(pod, target, options, {}).climb();
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

std::string explain(const kube::Pod& pod, const Way& way) {
  std::string out = "pod " + base::printable(pod.namespace_name) + "/" + base::printable(pod.name) +
                    ", container " + base::printable(way.container) + ":\n";
  for (const Way::Rung& rung : way.rungs) {
    out += std::string(rung.taken ? "  taken    " : "  skipped  ") + rung.name + ": " + rung.why +
           "\n";
  }
  return out;
}

std::string announcement(const kube::Pod& pod, const Way& way) {
  if (way.kind != Way::Kind::kNew) {
    return {};
  }
  const std::string where =
      base::printable(pod.namespace_name) + "/" + base::printable(pod.name) + ": ";
  return where + "adding ephemeral container " + way.container + " (" +
         (way.must_probe
              ? std::string("the API does not say which user the JVM runs as: this one checks, and "
                            "a second one may follow; --uid and --gid avoid that")
              : ids_text(way.make->ids)) +
         "); Kubernetes keeps its record until the pod is gone\n";
}

} // namespace jprof::plugin
