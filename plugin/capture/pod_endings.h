// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "lib/kube/pod.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace jprof::plugin {

// A container whose process ended while a capture ran.
struct ContainerEnding {
  std::string container;
  kube::Ending ending; // without a reason if the pod itself is gone
};

struct EndingQuestion {
  std::string jvm_container; // empty: any that is not ours
  std::string own_container; // where the session ran
  // The kubelet looks once a second, and the API shows it after that. 0: one look.
  std::chrono::milliseconds patience{0};
};

// Waits until the API shows that a container has ended, or is gone with its pod: some seconds after
// the fact. False if that does not happen in time.
bool await_end(kube::KubeClient& client, const kube::Pod& pod, const std::string& container,
               const Interrupt& interrupt, std::chrono::milliseconds patience);

// Which of them have ended since `before` was read. Empty if the cluster does not say.
std::vector<ContainerEnding> find_endings(kube::KubeClient& client, const kube::Pod& before,
                                          const EndingQuestion& question,
                                          const Interrupt& interrupt);

// The same between two looks at one pod.
std::vector<ContainerEnding> endings_between(const kube::Pod& before, const kube::Pod& now,
                                             const EndingQuestion& question);

// The failure, with what ended, and the cure if memory was the reason. A JVM that is gone is not a
// bug of ours: kInternal becomes kTargetGone.
base::Error with_endings(base::Error error, const std::vector<ContainerEnding>& endings,
                         const EndingQuestion& question);

} // namespace jprof::plugin
