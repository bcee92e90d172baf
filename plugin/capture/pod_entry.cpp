// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pod_entry.h"

#include "lib/base/encoding.h"
#include "plugin/cluster/pod_headroom.h"
#include "plugin/conversation/ask.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <set>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using State = kube::Container::State;

constexpr std::chrono::milliseconds kFirstTry = 40ms; // a container starts in 100 ms at best
constexpr std::chrono::milliseconds kMaxTryTime = 400ms;
constexpr auto kLookEvery = 500ms;
constexpr auto kHelloTime = 30s; // as long as a starved node may take to run an exec

// Reasons of a waiting container that no patience cures (pkg/kubelet/images/types.go and
// pkg/kubelet/kuberuntime/kuberuntime_container.go of Kubernetes).
constexpr std::array<std::string_view, 5> kNoImage = {"ErrImagePull", "ImagePullBackOff",
                                                      "ErrImageNeverPull", "InvalidImageName",
                                                      "ImageInspectError"};
constexpr std::array<std::string_view, 3> kNoStart = {"CreateContainerConfigError",
                                                      "CreateContainerError", "RunContainerError"};
// Those of a terminated one: its program could not be run at all (containerd, CRI-O).
constexpr std::array<std::string_view, 2> kNoProgram = {"StartError", "ContainerCannotRun"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What an exec reports while the kubelet does not know the container yet.
bool may_come(const base::Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTargetNotFound ||
         error.code == ErrorCode::kNoSidecar || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kUsage;
}

// A channel whose first bytes have already been read.
class HeardChannel final : public ByteChannel {
 public:
  HeardChannel(std::unique_ptr<ByteChannel> inner, Event first)
      : inner_(std::move(inner)), first_(std::move(first)) {}

  base::Status write(std::string_view bytes) override { return inner_->write(bytes); }
  Result<Event> read(std::chrono::milliseconds timeout, int wake_fd) override {
    if (first_) {
      return *std::exchange(first_, std::nullopt);
    }
    return inner_->read(timeout, wake_fd);
  }
  const std::string& error_output() const override { return inner_->error_output(); }

 private:
  std::unique_ptr<ByteChannel> inner_;
  std::optional<Event> first_;
};

// A session that has answered: an accepted exec means nothing yet, since the API server answers
// before it has asked the kubelet.
Result<std::unique_ptr<ByteChannel>> hear(std::unique_ptr<ByteChannel> channel, int wake_fd) {
  const auto deadline = Clock::now() + kHelloTime;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    JPROF_TRY_ASSIGN(ByteChannel::Event event, channel->read(std::max(left, 0ms), wake_fd));
    if (event.kind == ByteChannel::Event::Kind::kEnded) {
      return base::make_failure(ErrorCode::kNoSidecar,
                                "/jprof session ended with exit code " +
                                    std::to_string(event.exit_code) + ": " +
                                    base::printable(channel->error_output(), 500));
    }
    if (!event.bytes.empty()) {
      return std::make_unique<HeardChannel>(std::move(channel), std::move(event));
    }
    if (left <= 0ms) {
      return base::make_failure(ErrorCode::kTimeout, "the container does not answer");
    }
    pollfd wanted{wake_fd, POLLIN, 0};
    if (::poll(&wanted, 1, 0) > 0) {
      return base::make_failure(ErrorCode::kInterrupted, "interrupted, nothing kept");
    }
  }
}

bool says(const kube::Container& container, std::string_view words) {
  return container.state_message.find(words) != std::string::npos;
}

// The runtime's own words for a program that is not in the image, or is built for another machine.
bool is_other_image(const kube::Container& container) {
  return is_one_of(kNoProgram, container.state_reason) ||
         says(container, "no such file or directory") ||
         says(container, "executable file not found") || says(container, "exec format error");
}

base::Status not_started(const kube::EphemeralContainer& container, const kube::Container& found) {
  const std::string why = base::printable(found.state_reason) +
                          (found.state_message.empty() ? "" : ": ") +
                          base::printable(found.state_message, 500);
  const std::string image = base::printable(container.image);
  if (is_one_of(kNoImage, found.state_reason)) {
    return base::make_failure(ErrorCode::kUnavailable,
                              "the node has no image " + image + ": " + why,
                              "name one that the node can pull with --image or JPROF_IMAGE; pull "
                              "secrets are those of the pod");
  }
  const bool ended = found.state == State::kTerminated;
  if ((ended || is_one_of(kNoStart, found.state_reason)) && is_other_image(found)) {
    const bool machine = says(found, "exec format error");
    return base::make_failure(
        ErrorCode::kNoSidecar, "image " + image + " has no /jprof that the node can run: " + why,
        machine ? "name an image for the node's architecture with --image or JPROF_IMAGE"
                : "is it jprof's image? --image or JPROF_IMAGE names another");
  }
  if (ended) {
    return base::make_failure(ErrorCode::kNoSidecar, container.name + " ended at once: " + why,
                              "is --image=" + image + " the jprof image of this version?");
  }
  if (is_one_of(kNoStart, found.state_reason)) {
    return base::make_failure(ErrorCode::kForbidden, container.name + " cannot be started: " + why,
                              "--uid and --gid set the user that it runs as");
  }
  return {};
}

class Entrance {
 public:
  Entrance(kube::KubeClient& client, const kube::Pod& pod, const Interrupt& interrupt,
           const EntryOptions& options)
      : client_(client), pod_(pod), interrupt_(interrupt), options_(options) {}

  // Adds it and waits for its first session.
  Result<std::unique_ptr<ByteChannel>> make(const kube::EphemeralContainer& container);
  // Asks a probe's session which user the JVM runs as; nothing if the probe itself can profile it.
  Result<std::optional<kube::Ids>> look(std::unique_ptr<ByteChannel> channel,
                                        const std::string& target);

 private:
  base::Status check_rights();
  base::Status check_start(const kube::EphemeralContainer& container);
  Result<std::unique_ptr<ByteChannel>> wait_for(const kube::EphemeralContainer& container);

  kube::KubeClient& client_;
  const kube::Pod& pod_;
  const Interrupt& interrupt_;
  const EntryOptions& options_;
};

// A container that could not be called would be left behind for nothing.
base::Status Entrance::check_rights() {
  bool any = false;
  for (const char* verb : {"create", "get"}) {
    JPROF_TRY_ASSIGN(const bool allowed, client_.may(pod_.namespace_name, verb, "pods", "exec"));
    any = any || allowed;
  }
  if (!any) {
    return base::make_failure(
        ErrorCode::kForbidden,
        "you may not exec into pods of namespace " + pod_.namespace_name +
            ", so no ephemeral container was added",
        "grant get,create on pods/exec: kubectl -n " + pod_.namespace_name +
            " create role jprof --verb=get,create --resource=pods/exec, and bind it");
  }
  return {};
}

base::Status Entrance::check_start(const kube::EphemeralContainer& container) {
  JPROF_TRY_ASSIGN(const kube::Pod now, client_.get_pod(pod_.namespace_name, pod_.name));
  if (now.uid != pod_.uid) {
    return base::make_failure(ErrorCode::kTargetGone, "the pod was replaced in the meantime");
  }
  JPROF_TRY(kube::check_pod(now));
  const kube::Container* found = now.find(container.name);
  if (found == nullptr || found->state == State::kRunning || found->state == State::kUnknown) {
    return {};
  }
  return not_started(container, *found);
}

Result<std::unique_ptr<ByteChannel>> Entrance::wait_for(const kube::EphemeralContainer& container) {
  const auto begin = Clock::now();
  const auto deadline = begin + options_.start_time;
  auto next_look = begin + kLookEvery;
  const int wake_fd = interrupt_.wake_fd(0);
  for (;;) {
    // In proportion to the time already taken: most containers start within a second.
    const auto delay =
        std::clamp(std::chrono::ceil<std::chrono::milliseconds>((Clock::now() - begin) / 8),
                   kFirstTry, kMaxTryTime);
    pollfd wanted{wake_fd, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(delay.count())) > 0) {
      return base::make_failure(ErrorCode::kInterrupted, "interrupted, nothing kept");
    }
    auto channel = open_channel(client_, pod_, container.name, wake_fd);
    if (channel) {
      channel = hear(std::move(*channel), wake_fd);
    }
    if (channel || !may_come(channel.error())) {
      return channel;
    }
    if (Clock::now() >= next_look) {
      JPROF_TRY(check_start(container));
      next_look = Clock::now() + kLookEvery;
    }
    if (Clock::now() >= deadline) {
      base::Error error = std::move(channel).error();
      error.code = ErrorCode::kTimeout;
      return base::fail(std::move(error).with_context(container.name + " has not started in " +
                                                      std::to_string(options_.start_time.count()) +
                                                      " s"));
    }
  }
}

Result<std::unique_ptr<ByteChannel>> Entrance::make(const kube::EphemeralContainer& container) {
  options_.on_phase("adding ephemeral container " + container.name);
  JPROF_TRY(check_rights());
  base::Status added = client_.add_ephemeral_container(pod_, container, kube::PatchMode::kApply);
  if (!added) {
    return base::fail(std::move(added).error().with_context(
        "pod " + base::printable(pod_.name) +
        " has no usable jprof container, and an ephemeral one was refused"));
  }
  if (options_.made != nullptr) {
    options_.made->push_back({container.name, container.idle_exit});
  }
  options_.on_phase("starting " + container.name);
  JPROF_TRY_ASSIGN(std::unique_ptr<ByteChannel> channel, wait_for(container));
  if (options_.made != nullptr) {
    options_.made->back().started = true;
  }
  return channel;
}

Result<std::optional<kube::Ids>> Entrance::look(std::unique_ptr<ByteChannel> channel,
                                                const std::string& target) {
  options_.on_phase("checking which user the JVM runs as");
  Conversation conversation(std::move(channel), interrupt_, 0);
  JPROF_TRY(conversation.open());
  JPROF_TRY_ASSIGN(const protocol::ResultMessage answer,
                   ask(conversation, protocol::RequestKind::kTargets));
  const kube::Container* container = pod_.find(target);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const base::Json& jvm : answer.targets) {
    const std::string id = base::json_string(jvm, "containerId");
    const bool other = container != nullptr && !id.empty() && !container->container_id.empty() &&
                       container->container_id.find(id) == std::string::npos;
    if (other) {
      continue;
    }
    // Other ids cure nothing else; the capture itself reports what else is wrong.
    const std::string reason = base::json_string(jvm, "reason");
    const bool closed = base::code_from_word(reason) == ErrorCode::kIdentityMismatch ||
                        base::code_from_word(reason) == ErrorCode::kPermission;
    if (base::json_bool(jvm, "ready") || !closed) {
      return std::nullopt;
    }
    seen.emplace(base::json_int(jvm, "uid", -1), base::json_int(jvm, "gid", -1));
  }
  if (seen.empty()) {
    return base::make_failure(ErrorCode::kTargetNotFound,
                              "no JVM is visible in container " + base::printable(target),
                              "-c names another container; some runtimes ignore the target of an "
                              "ephemeral container: then only a sidecar works");
  }
  if (seen.size() > 1) {
    return base::make_failure(ErrorCode::kSeveralTargets, "JVMs of several users run in the pod",
                              "choose with --uid and --gid, or with -c");
  }
  return kube::Ids{seen.begin()->first, seen.begin()->second};
}

} // namespace

Result<PodEntry> enter_pod(kube::KubeClient& client, const kube::Pod& pod, const PodAccess& access,
                           const Interrupt& interrupt, const EntryOptions& options) {
  if (access.kind != PodAccess::Kind::kSidecar && !options.force) {
    JPROF_TRY(check_headroom(pod, ask_headroom(client, pod)));
  }
  if (access.kind != PodAccess::Kind::kNew) {
    return PodEntry{access.container};
  }
  Entrance entrance(client, pod, interrupt, options);
  JPROF_TRY_ASSIGN(std::unique_ptr<ByteChannel> channel, entrance.make(*access.make));
  if (!access.must_probe) {
    return PodEntry{access.container, std::move(channel)};
  }
  JPROF_TRY_ASSIGN(const std::optional<kube::Ids> ids,
                   entrance.look(std::move(channel), access.make->target));
  if (!ids) {
    return PodEntry{access.container};
  }
  JPROF_TRY_ASSIGN(const kube::EphemeralContainer second, with_ids(*access.make, *ids));
  JPROF_TRY_ASSIGN(channel, entrance.make(second));
  return PodEntry{second.name, std::move(channel)};
}

} // namespace jprof::plugin
