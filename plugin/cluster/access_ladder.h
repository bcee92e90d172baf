// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/ephemeral_container.h"
#include "lib/kube/pod.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jprof::plugin {

// What a user says about pods without a usable sidecar.
struct LadderOptions {
  enum class Ephemeral { kAuto, kNever, kAlways }; // kAlways: a new one, whatever is there
  Ephemeral ephemeral = Ephemeral::kAuto;
  std::string image{};      // empty: none is known
  bool image_named = false; // by the user, not by the release
  std::string pull_policy = "IfNotPresent";
  kube::Ids ids{};          // instead of what the API knows
  std::string capability{}; // "SYS_PTRACE" or empty
  bool force = false;       // also where memory is short
};

// Where in a pod `/jprof session` is to run, and why there.
struct Way {
  enum class Kind { kSidecar, kReuse, kNew };
  // One rung of the ladder: a sentence each, in the order in which they were considered.
  struct Rung {
    std::string name;
    bool taken = false;
    std::string why;
  };
  Kind kind = Kind::kSidecar;
  std::string container;                          // also of kNew: its name is chosen here
  std::optional<kube::EphemeralContainer> make{}; // of kNew
  // The API does not say as whom the JVM runs: a first container with the image's own user has to
  // look, and unless that is the JVM's by chance, a second one is needed.
  bool must_probe = false;
  // Of kReuse: the way where that container turns out to have ended. The API shows an end a second
  // or more after it.
  std::shared_ptr<const Way> if_gone{};
  std::vector<Rung> rungs{};
};

// sidecar -> live ephemeral container of ours -> new ephemeral container. Decides by what the API
// says of the pod and changes nothing. `target` may be nullptr (several containers, none named).
// kNoSidecar where no rung is left, with what was in the way of each; kNoPlaceForAgent where an
// ephemeral container would be left behind for nothing.
base::Result<Way> find_way(const kube::Pod& pod, const kube::Container* target,
                           const LadderOptions& options);

// The same container once more under a fresh name and with these ids: after a probe.
base::Result<kube::EphemeralContainer> with_ids(const kube::EphemeralContainer& probe,
                                                const kube::Ids& ids);

// The ladder in words, a line a rung.
std::string explain(const kube::Pod& pod, const Way& way);
// What Kubernetes will keep of it, for the user to know beforehand; empty for nothing.
std::string announcement(const kube::Pod& pod, const Way& way);

} // namespace jprof::plugin
