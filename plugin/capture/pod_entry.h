// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "plugin/cluster/access_ladder.h"
#include "plugin/session/byte_channel.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace jprof::plugin {

// A container in which `/jprof session` runs, got ready.
struct PodEntry {
  std::string container;
  // A session that is open already, if getting ready took one: the caller's to use first.
  std::unique_ptr<ByteChannel> channel{};
};

// A container that was added: Kubernetes keeps its record.
struct MadeContainer {
  std::string name;
  std::string idle_exit; // it ends after so much idle time
  bool started = false;  // it has answered
};

struct EntryOptions {
  // Told what is being done: "adding a container", "starting jprof-...".
  std::function<void(const std::string& phase)> on_phase;
  // Containers made, also where the whole fails: what is left in the pod.
  std::vector<MadeContainer>* made = nullptr;
  bool force = false; // also where memory is short
  // An image has to be pulled in this time.
  std::chrono::seconds start_time{180};
};

// Goes the way: where there is a container already nothing is asked of the cluster. Otherwise adds
// one and waits until it answers, by calling it: the API's status lags its start by up to a second.
// Errors: kForbidden (the missing verb, or Pod Security's verdict), kUnavailable (the image),
// kLimit (memory: asked before an ephemeral container works in the pod, whoever made it),
// kSeveralTargets (a probe saw JVMs of several users), kInterrupted, kTimeout.
base::Result<PodEntry> enter_pod(kube::KubeClient& client, const kube::Pod& pod, const Way& way,
                                 const Interrupt& interrupt, const EntryOptions& options);

} // namespace jprof::plugin
