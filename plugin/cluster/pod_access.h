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

// What the user wants for pods without a usable sidecar.
struct PodAccessOptions {
  enum class Ephemeral { kAuto, kNever, kAlways }; // kAlways: a new one in any case
  Ephemeral ephemeral = Ephemeral::kAuto;
  std::string image{};      // empty: none is known
  bool image_named = false; // by the user, not by the release
  std::string pull_policy = "IfNotPresent";
  kube::Ids ids{};          // instead of what the API knows
  std::string capability{}; // "SYS_PTRACE" or empty
  bool force = false;       // even if memory is short
};

// The container of a pod in which `/jprof session` is to run, and why there.
struct PodAccess {
  enum class Kind { kSidecar, kReuse, kNew };
  // One of the containers that were considered, in that order, and why it was taken or skipped.
  struct Attempt {
    std::string name;
    bool taken = false;
    std::string why;
  };
  Kind kind = Kind::kSidecar;
  std::string container;                          // also of kNew: its name is chosen here
  std::optional<kube::EphemeralContainer> make{}; // of kNew
  // The API does not say which user the JVM runs as: a first container with the image's own user
  // has to find out, and unless that user happens to be the JVM's, a second one is needed.
  bool must_probe = false;
  // Of kReuse: what to use if that container turns out to have ended. The API reports an end a
  // second or more late.
  std::shared_ptr<const PodAccess> if_gone{};
  std::vector<Attempt> attempts{};
};

// Considers the sidecar, then a live ephemeral container of ours, then a new one. Decides by what
// the API says about the pod and changes nothing. `target` may be nullptr (several containers, none
// named). kNoSidecar if none of them can be used, with the reason for each; kNoPlaceForAgent if an
// ephemeral container would be left behind for nothing.
base::Result<PodAccess> find_access(const kube::Pod& pod, const kube::Container* target,
                                    const PodAccessOptions& options);

// The same container once more under a fresh name and with these ids: after a probe.
base::Result<kube::EphemeralContainer> with_ids(const kube::EphemeralContainer& probe,
                                                const kube::Ids& ids);

// What was considered, in words: one line for each attempt.
std::string explain(const kube::Pod& pod, const PodAccess& access);
// What Kubernetes will keep of it, to tell the user beforehand; empty: nothing.
std::string announcement(const kube::Pod& pod, const PodAccess& access);

} // namespace jprof::plugin
