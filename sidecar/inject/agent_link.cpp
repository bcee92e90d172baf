// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/inject/agent_link.h"

#include "lib/base/deadline.h"
#include "lib/base/encoding.h"
#include "lib/wire/agent_options.h"
#include "sidecar/inject/agent_delivery.h"
#include "sidecar/inject/control_socket.h"
#include "sidecar/jvm/attach_client.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace jprof::inject {
namespace {

using base::Deadline;
using base::ErrorCode;

base::Error load_error(const jvm::Target& target, int code) {
  const std::string what = "the agent could not start in " + target.name();
  if (code == wire::kLoadBadOptions) {
    return base::make_error(ErrorCode::kAgentFailed, what + ": it does not understand its options",
                            "the copy that is resident may be of another version: restart the JVM");
  }
  if (code == wire::kLoadNoResources) {
    return base::make_error(ErrorCode::kAgentFailed, what + ": it could not get a thread or memory",
                            "look at the container's pids and memory limits");
  }
  return base::make_error(ErrorCode::kAgentFailed,
                          what + ": Agent_OnAttach returned " + std::to_string(code));
}

base::Error not_connected(const jvm::Target& target, base::Error error) {
  if (error.code != ErrorCode::kTimeout) {
    return error;
  }
  return base::make_error(ErrorCode::kAgentFailed,
                          "the agent was loaded into " + target.name() +
                              " but did not connect to its socket in /tmp",
                          "a seccomp profile of the JVM's container may forbid Unix sockets or "
                          "threads; its log may say "
                          "more");
}

struct StatusText {
  wire::AgentStatus status;
  ErrorCode code;
  std::string_view cause;
  std::string_view cure;
};

constexpr std::array<StatusText, 18> kStatusTexts = {{
    {wire::AgentStatus::kBadMessage, ErrorCode::kProtocol,
     "it did not understand the start message",
     "restart the JVM: an older agent is resident in it"},
    {wire::AgentStatus::kVersionMismatch, ErrorCode::kAgentFailed,
     "it speaks another version of the protocol",
     "restart the JVM, or use the jprof whose agent is resident in it"},
    {wire::AgentStatus::kNoVmStructs, ErrorCode::kJvmUnsupported,
     "the JVM does not export its own structure", "use an OpenJDK build, 8 to 25"},
    {wire::AgentStatus::kUnsupportedJvm, ErrorCode::kJvmUnsupported, "this JVM is not supported",
     "use an OpenJDK build, 8 to 25"},
    {wire::AgentStatus::kBusy, ErrorCode::kBusy, "another session records this JVM",
     "wait for it to end, or stop it"},
    {wire::AgentStatus::kHandlerBusy, ErrorCode::kBusy, "the last session has not ended completely",
     "let the thread go on: it is stopped, held by a tracer or starved of CPU; then try again"},
    {wire::AgentStatus::kHandlersChecked, ErrorCode::kJvmUnsupported,
     "the JVM checks its signal handlers (-Xcheck:jni), so jprof may install none",
     "start the JVM without -Xcheck:jni"},
    {wire::AgentStatus::kMapFailed, ErrorCode::kAgentFailed,
     "the shared memory could not be mapped in the JVM",
     "look at the limits on its address space and memory, or at the seccomp profile"},
    {wire::AgentStatus::kSignalTaken, ErrorCode::kBusy, "no signal is left for sampling in the JVM",
     "stop what has handlers for SIGPROF and the highest real-time signals"},
    {wire::AgentStatus::kNoTimers, ErrorCode::kAgentFailed, "not one timer could be created",
     "raise the limit on pending signals (ulimit -i), or look at the seccomp profile"},
    {wire::AgentStatus::kCallForbidden, ErrorCode::kAgentFailed,
     "the JVM may not make a system call that sampling needs",
     "allow it in the JVM's seccomp profile (RuntimeDefault does)"},
    {wire::AgentStatus::kWalkerUnavailable, ErrorCode::kJvmUnsupported,
     "the requested stack walker does not work in this JVM", "use vmstructs, the default walker"},
    {wire::AgentStatus::kEngineUnavailable, ErrorCode::kAgentFailed,
     "the requested event cannot be sampled in this JVM", "use --event cpu"},
    {wire::AgentStatus::kNoThread, ErrorCode::kAgentFailed, "no thread could be created in the JVM",
     "look at the container's pids limit"},
    {wire::AgentStatus::kOtherPidNamespace, ErrorCode::kAgentFailed,
     "/proc in the JVM's container is not of its own PID namespace",
     "mount the container's own /proc in it"},
    {wire::AgentStatus::kVmExiting, ErrorCode::kTargetGone, "the JVM is exiting", ""},
    {wire::AgentStatus::kLeavesBehind, ErrorCode::kUsage,
     "this stack walker opens JVMTI, which makes mounts of virtual threads cost some 20 to 30 % "
     "more for as long as the JVM runs",
     "use vmstructs alone, the default walker, or accept that with --leave-behind"},
    // Ours to fix if it were true; but a JVM says so, and what a JVM says is never a bug of ours.
    {wire::AgentStatus::kRegionTooSmall, ErrorCode::kAgentFailed,
     "the recording region is too small", ""},
}};

struct Leftovers {
  // clang before 16 makes no aggregate of what make_shared() passes on.
  explicit Leftovers(ControlSocket socket) : control(std::move(socket)) {}

  ControlSocket control;
  std::optional<DeliveredAgent> resident = std::nullopt;
  std::optional<DeliveredAgent> agent = std::nullopt;
};

// What the attempts to load the agent share.
struct Attempt {
  const jvm::Target& target;
  const AgentOptions& options;
  Deadline deadline;
  Leftovers& leftovers;
  AgentLink& link;
};

base::Status load(const Attempt& attempt, DeliveredAgent& library) {
  jvm::AttachLimits limits;
  limits.stopped = attempt.options.stopped;
  limits.on_handed_over = [&library] { library.request_is_pending(true); };
  const jvm::AttachCommand command{
      "load", {library.path(), "true", attempt.leftovers.control.agent_options()}};
  auto reply = jvm::run_command(attempt.target, command, attempt.deadline, limits);
  if (!reply) {
    return base::fail(library.keep_name(std::move(reply).error()));
  }
  library.request_is_pending(false);
  JPROF_TRY_ASSIGN(const int code, jvm::interpret_load(*reply));
  if (code != wire::kLoadOk && code != wire::kLoadHandedOver) {
    return base::fail(load_error(attempt.target, code));
  }
  attempt.link.library = library.path();
  attempt.link.handed_over = code == wire::kLoadHandedOver;
  attempt.link.source = library.source();
  return {};
}

// A JVM that already holds a copy is asked for it by the path from which it was loaded. glibc looks
// for that name among the loaded libraries before it looks for a file, so the copy need not exist
// any more and no second one is mapped; JDK 8 and 11 would never unload that one. If this does not
// work (musl opens the file first, and somebody removed it), nothing has happened and the next way
// is tried: false.
base::Result<bool> load_resident(const Attempt& attempt) {
  if (attempt.target.vm.agent_library.empty()) {
    return false;
  }
  base::Result<DeliveredAgent> named = hold_resident_name(attempt.target, attempt.deadline);
  base::Status loaded = named ? load(attempt, attempt.leftovers.resident.emplace(std::move(*named)))
                              : base::fail(std::move(named).error());
  if (loaded) {
    return true;
  }
  const ErrorCode code = loaded.error().code;
  if (code == ErrorCode::kTimeout || code == ErrorCode::kInterrupted ||
      code == ErrorCode::kTargetGone) {
    return base::fail(std::move(loaded).error());
  }
  attempt.link.skipped.push_back("resident copy: " + loaded.error().message);
  return false;
}

base::Status load_delivered(const Attempt& attempt) {
  AgentLink& link = attempt.link;
  JPROF_TRY_ASSIGN(DeliveredAgent delivered,
                   deliver_agent(attempt.target, attempt.options, attempt.deadline, link.skipped));
  DeliveredAgent& agent = attempt.leftovers.agent.emplace(std::move(delivered));
  JPROF_TRY(load(attempt, agent));
  // musl's loader identifies a library only by its file: without the file the next session would
  // map another copy, and removing it frees no space, because the mapping holds the file's blocks.
  const bool only_by_file = attempt.target.vm.libc == container::Libc::kMusl;
  if (only_by_file && !link.handed_over && agent.source() == AgentSource::kCopy) {
    link.stays = agent.path();
    agent.keep();
  }
  return {};
}

} // namespace

base::Error agent_error(const wire::FailedMessage& message) {
  const std::string_view detail(message.detail, sizeof message.detail);
  std::string said = base::printable(detail.substr(0, detail.find('\0')));
  if (message.os_errno != 0) {
    said += (said.empty() ? "errno " : ", errno ") + std::to_string(message.os_errno);
  }
  const std::string tail = said.empty() ? std::string() : " (" + said + ")";
  for (const StatusText& row : kStatusTexts) {
    if (static_cast<std::uint32_t>(row.status) == message.status) {
      // If a session is recording, the agent reports the same in other words.
      const std::string more = row.status == wire::AgentStatus::kBusy ? std::string() : tail;
      return base::make_error(row.code,
                              "the agent could not start: " + std::string(row.cause) + more,
                              std::string(row.cure));
    }
  }
  return base::make_error(ErrorCode::kAgentFailed, "the agent could not start: status " +
                                                       std::to_string(message.status) + tail);
}

base::Result<AgentLink> connect_agent(const jvm::Target& target, const AgentOptions& options) {
  const auto deadline = Deadline::after(options.timeout);
  AgentLink link;
  JPROF_TRY_ASSIGN(ControlSocket control, ControlSocket::create(target, deadline));
  const auto leftovers = std::make_shared<Leftovers>(std::move(control));
  const Attempt attempt{target, options, deadline, *leftovers, link};
  JPROF_TRY_ASSIGN(const bool loaded, load_resident(attempt));
  if (!loaded) {
    JPROF_TRY(load_delivered(attempt));
  }
  auto accepted = leftovers->control.accept(deadline);
  if (!accepted) {
    return base::fail(not_connected(target, std::move(accepted).error()));
  }
  link.socket = std::move(accepted->socket);
  link.hello = accepted->hello;
  link.handed_over = link.handed_over || link.hello.resident != 0;
  link.leftovers = leftovers;
  return link;
}

std::string volume_refusal(const AgentLink& link) {
  constexpr std::string_view kVolume = "shared volume: "; // agent_delivery.cpp
  for (const std::string& skipped : link.skipped) {
    if (skipped.starts_with(kVolume)) {
      return base::printable(skipped.substr(kVolume.size()));
    }
  }
  return "reason unknown";
}

} // namespace jprof::inject
