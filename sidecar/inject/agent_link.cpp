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

base::Status load(const jvm::Target& target, const std::string& path, const ControlSocket& control,
                  Deadline deadline, AgentLink& link) {
  JPROF_TRY_ASSIGN(const int code,
                   jvm::load_agent(target, path, control.agent_options(), deadline));
  if (code != wire::kLoadOk && code != wire::kLoadHandedOver) {
    return base::fail(load_error(target, code));
  }
  link.library = path;
  link.handed_over = code == wire::kLoadHandedOver;
  return {};
}

// A JVM that already holds a copy is asked for it by the path from which it was loaded. glibc looks
// for that name among the loaded libraries before it looks for a file, so the copy need not exist
// any more and no second one is mapped; JDK 8 and 11 would never unload that one. If this does not
// work (musl opens the file first, and somebody removed it), nothing has happened and the next way
// is tried.
bool load_resident(const jvm::Target& target, const ControlSocket& control, Deadline deadline,
                   AgentLink& link) {
  const std::string& path = target.vm.agent_library;
  if (path.empty()) {
    return false;
  }
  const base::Status loaded = load(target, path, control, deadline, link);
  if (!loaded) {
    link.skipped.push_back("resident copy: " + loaded.error().message);
    return false;
  }
  link.source = AgentSource::kResident;
  return true;
}

struct Leftovers {
  ControlSocket control;
  std::optional<DeliveredAgent> agent = std::nullopt;
};

base::Status load_delivered(const jvm::Target& target, const AgentOptions& options,
                            Leftovers& leftovers, Deadline deadline, AgentLink& link) {
  JPROF_TRY_ASSIGN(DeliveredAgent delivered,
                   deliver_agent(target, options, deadline, link.skipped));
  DeliveredAgent& agent = leftovers.agent.emplace(std::move(delivered));
  const base::Status loaded = load(target, agent.path(), leftovers.control, deadline, link);
  // musl's loader identifies a library only by its file: without the file the next session would
  // map another copy, and removing it frees no space, because the mapping holds the file's blocks.
  const bool only_by_file = target.vm.libc == container::Libc::kMusl;
  if (loaded && only_by_file && !link.handed_over && agent.source() == AgentSource::kCopy) {
    link.stays = agent.path();
    agent.keep();
  }
  link.source = agent.source();
  return loaded;
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
  if (!load_resident(target, leftovers->control, deadline, link)) {
    JPROF_TRY(load_delivered(target, options, *leftovers, deadline, link));
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
