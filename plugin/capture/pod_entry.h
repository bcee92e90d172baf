// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "plugin/cluster/pod_access.h"
#include "plugin/conversation/byte_channel.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace jprof::plugin {

// A container in which `/jprof session` runs, ready for use.
struct PodEntry {
  std::string container;
  // A session that is already open, if one was needed to get ready: the caller uses it first.
  std::unique_ptr<ByteChannel> channel{};
};

// A container that was added: Kubernetes keeps its record.
struct MadeContainer {
  std::string name;
  std::string idle_exit; // it ends after this much idle time
  bool started = false;  // it has answered
};

struct EntryOptions {
  // Called with what is being done: "adding a container", "starting jprof-...".
  std::function<void(const std::string& phase)> on_phase;
  // Containers that were made, even if the whole fails: what is left in the pod.
  std::vector<MadeContainer>* made = nullptr;
  bool force = false; // even if memory is short
  // The image has to be pulled within this time.
  std::chrono::seconds start_time{180};
};

// Uses the container that `access` names: if it exists already, the cluster is asked nothing.
// Otherwise adds one and calls it until it answers: the API's status lags its start by up to a
// second.
// Errors: kForbidden (the missing verb, or Pod Security's verdict), kUnavailable (the image),
// kLimit (memory: checked before an ephemeral container works in the pod, whoever made it),
// kSeveralTargets (a probe saw JVMs of several users), kInterrupted, kTimeout.
base::Result<PodEntry> enter_pod(kube::KubeClient& client, const kube::Pod& pod,
                                 const PodAccess& access, const Interrupt& interrupt,
                                 const EntryOptions& options);

} // namespace jprof::plugin
