// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pod_endings.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using State = kube::Container::State;

constexpr auto kLookEvery = 300ms;
constexpr const char* kOutOfMemory = "OOMKilled";

bool is_meant(const kube::Container& container, const EndingQuestion& question) {
  if (container.name == question.own_container) {
    return true;
  }
  const bool runs_on = container.kind == kube::Container::Kind::kApp ||
                       container.kind == kube::Container::Kind::kSidecar;
  return question.jvm_container.empty() ? runs_on && !kube::is_jprof(container)
                                        : container.name == question.jvm_container;
}

bool has_ended(const kube::Container& before, const kube::Container& now) {
  const bool stopped = now.state == State::kTerminated && before.state != State::kTerminated;
  return stopped || now.restarts > before.restarts;
}

// False: interrupted while waiting.
bool pause(const Interrupt& interrupt) {
  pollfd wanted{interrupt.wake_fd(interrupt.count()), POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(kLookEvery / 1ms)) <= 0;
}

bool is_about_jvm(const std::vector<ContainerEnding>& endings, const EndingQuestion& question) {
  return std::any_of(endings.begin(), endings.end(), [&question](const ContainerEnding& one) {
    return one.container != question.own_container;
  });
}

std::string words_of(const ContainerEnding& one, const EndingQuestion& question) {
  std::string out = one.container == question.own_container && !one.container.empty()
                        ? "jprof's container "
                        : "container ";
  if (one.container.empty()) {
    out = "the pod";
  }
  out += base::printable(one.container) +
         " ended in the meantime: " + base::printable(one.ending.reason);
  if (one.ending.exit_code != 0) {
    out += " (exit code " + std::to_string(one.ending.exit_code) + ")";
  }
  return out;
}

} // namespace

std::vector<ContainerEnding> endings_between(const kube::Pod& before, const kube::Pod& now,
                                             const EndingQuestion& question) {
  if (now.uid != before.uid) {
    return {{"", {"it was replaced by another of the same name"}}};
  }
  if (now.phase == "Failed" && !now.phase_reason.empty()) { // the kubelet's own doing
    return {{"", {now.phase_reason}}};
  }
  std::vector<ContainerEnding> out;
  for (const kube::Container& one : now.containers) {
    const kube::Container* then = before.find(one.name);
    if (is_meant(one, question) && has_ended(then == nullptr ? kube::Container{} : *then, one)) {
      out.push_back({one.name, one.ending.value_or(kube::Ending{"for an unknown reason"})});
    }
  }
  return out;
}

bool await_end(kube::KubeClient& client, const kube::Pod& pod, const std::string& container,
               const Interrupt& interrupt, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    const auto now = client.get_pod(pod.namespace_name, pod.name);
    const kube::Container* found = now ? now->find(container) : nullptr;
    if (now && (found == nullptr || found->state == State::kTerminated || now->uid != pod.uid)) {
      return true;
    }
    if (Clock::now() >= deadline || !pause(interrupt)) {
      return false;
    }
  }
}

std::vector<ContainerEnding> find_endings(kube::KubeClient& client, const kube::Pod& before,
                                          const EndingQuestion& question,
                                          const Interrupt& interrupt) {
  const auto deadline = Clock::now() + question.patience;
  for (;;) {
    const auto now = client.get_pod(before.namespace_name, before.name);
    if (!now) {
      return now.error().code == ErrorCode::kTargetNotFound
                 ? std::vector<ContainerEnding>{{"", {"it was deleted"}}}
                 : std::vector<ContainerEnding>{};
    }
    std::vector<ContainerEnding> found = endings_between(before, *now, question);
    // Our container's end may be visible before that of the JVM's container: one more look shows
    // it.
    if (is_about_jvm(found, question) || Clock::now() >= deadline) {
      return found;
    }
    if (!pause(interrupt)) {
      return found;
    }
  }
}

base::Error with_endings(base::Error error, const std::vector<ContainerEnding>& endings,
                         const EndingQuestion& question) {
  if (is_about_jvm(endings, question) && error.code == ErrorCode::kInternal) {
    error.code = ErrorCode::kTargetGone;
    error.cure.clear(); // to report a bug
  }
  for (const ContainerEnding& one : endings) {
    error.message += "; " + words_of(one, question);
    if (one.ending.reason == kOutOfMemory) {
      error.cure = one.container == question.own_container
                       ? "the pod's memory limit has no room for a capture: raise it, or add the "
                         "sidecar, which brings memory of its own"
                       : "its memory limit was too small for what it was doing: raise it" +
                             std::string(error.cure.empty() ? "" : "; ") + error.cure;
    }
  }
  return error;
}

} // namespace jprof::plugin
