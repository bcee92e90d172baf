// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/session.h"

#include "agent/control/control_channel.h"
#include "agent/jvm/vm_structs.h"
#include "agent/os/modules.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/thread_table.h"
#include "agent/session/recorder.h"
#include "agent/signals/call_trial.h"

#include <atomic>
#include <errno.h>
#include <sys/prctl.h>

namespace jprof::agent {
namespace {

using wire::AgentStatus;
using wire::ControlType;

constexpr std::uint64_t kMinIntervalNs = 50'000;
constexpr std::uint64_t kMaxIntervalNs = 10'000'000'000;
constexpr std::size_t kThreadStackBytes = 256 * 1024;
constexpr std::int64_t kStartTimeoutNs = 10'000'000'000;
constexpr std::int64_t kGoodbyeTimeoutNs = 5'000'000'000;
constexpr std::size_t kMaxRequests = 4;

// Requests on their way to a thread. They are static because the heap belongs to the JVM.
struct RequestSlot {
  std::atomic<bool> taken{false};
  SessionRequest request;
};
RequestSlot g_requests[kMaxRequests];

// Held by the recording session, from its first look at the JVM until its handlers are gone.
std::atomic<bool> g_recording{false};
// While a thread is still in the handler of an ended session: its tid, or 0 if unknown. g_recording
// is held until it has left.
constexpr std::int32_t kNoStraggler = -1;
std::atomic<std::int32_t> g_straggler{kNoStraggler};
std::atomic<bool> g_vm_exits{false};

void say_hello(ControlChannel& channel, const SessionRequest& request) {
  auto hello = make_message<wire::HelloMessage>(ControlType::kHello);
  hello.version = wire::kControlVersion;
  hello.min_version = wire::kMinControlVersion;
  os::copy_bytes(hello.nonce, request.options.nonce, sizeof hello.nonce);
  hello.pid = static_cast<std::uint32_t>(os::process_id());
  hello.resident = request.for_other_copy ? 1 : 0;
  constexpr char kVersion[] = JPROF_VERSION;
  os::copy_bytes(hello.agent_version, kVersion, sizeof kVersion);
  jvm::read_vm_version(hello.java_version, sizeof hello.java_version);
  channel.send(&hello, sizeof hello);
}

void send_failure(ControlChannel& channel, const Failure& failure) {
  auto message = make_message<wire::FailedMessage>(ControlType::kFailed);
  message.status = static_cast<std::uint32_t>(failure.status);
  message.os_errno = failure.os_errno;
  os::copy_bytes(message.detail, failure.detail, sizeof message.detail);
  channel.send(&message, sizeof message);
  channel.wait_for_hang_up(kGoodbyeTimeoutNs);
}

// Waits for the start message; false if the sidecar went away or stayed silent, or if a seccomp
// filter does not let us read.
bool receive_start(ControlChannel& channel, ReceivedMessage* message) {
  const std::uint64_t deadline =
      os::clock_ns(CLOCK_MONOTONIC) + static_cast<std::uint64_t>(kStartTimeoutNs);
  for (;;) {
    const std::uint64_t now = os::clock_ns(CLOCK_MONOTONIC);
    if (now >= deadline) {
      return false;
    }
    switch (channel.receive(message, static_cast<std::int64_t>(deadline - now))) {
    case ReceiveResult::kHangUp:
      return false;
    case ReceiveResult::kRefused:
      send_failure(channel, {AgentStatus::kCallForbidden, channel.error(), "recvmsg is refused"});
      return false;
    case ReceiveResult::kNothing:
      break;
    case ReceiveResult::kMessage:
      return true;
    }
  }
}

Failure check_start(const ReceivedMessage& message) {
  const auto* start = message.as<wire::StartMessage>();
  if (message.type() != ControlType::kStart || start == nullptr || message.fd < 0) {
    return Failure{AgentStatus::kBadMessage, 0,
                   "the first message was not a start message with a region"};
  }
  if (start->version < wire::kMinControlVersion || start->version > wire::kControlVersion) {
    return Failure{AgentStatus::kVersionMismatch, 0, "no common version of the control protocol"};
  }
  if (start->engine != static_cast<std::uint32_t>(wire::Engine::kCpuTimer) &&
      start->engine != static_cast<std::uint32_t>(wire::Engine::kPerfClock)) {
    return Failure{AgentStatus::kEngineUnavailable, 0, "this agent does not know the engine"};
  }
  if (start->walker < static_cast<std::uint32_t>(wire::Walker::kVmStructs) ||
      start->walker > static_cast<std::uint32_t>(wire::Walker::kJmx)) {
    return Failure{AgentStatus::kWalkerUnavailable, 0, "this agent does not know the walker"};
  }
  if (start->interval_ns < kMinIntervalNs || start->interval_ns > kMaxIntervalNs) {
    return Failure{AgentStatus::kBadMessage, 0, "the interval must be between 50 us and 10 s"};
  }
  return Failure{};
}

// Returns when the region, the socket and its descriptor are gone. Admits the next session as soon
// as nothing of this one can be in its way.
void record(ControlChannel& channel, ReceivedMessage& message, const SessionRequest& request) {
  const auto* start = message.as<wire::StartMessage>();
  Recorder recorder(channel, *start, g_vm_exits, request.java_vm);
  const Failure failure = recorder.begin(message.fd, request.java_thread_key);
  const bool began = failure.status == AgentStatus::kOk;
  wire::StopReason reason = wire::StopReason::kAgentError;
  if (began) {
    reason = recorder.run();
    recorder.stop(reason);
  } else {
    recorder.abandon();
  }
  g_straggler.store(recorder.has_stragglers() ? recorder.straggler() : kNoStraggler);
  const bool others_may_come = !recorder.has_stragglers();
  if (others_may_come) {
    g_recording.store(false); // before anybody is told: the next session may follow at once
  }
  if (!began) {
    send_failure(channel, failure);
  } else {
    recorder.say_stopped();
    if (reason != wire::StopReason::kPeerGone) {
      channel.wait_for_hang_up(kGoodbyeTimeoutNs);
    }
  }
  channel.close();
  os::close_fd(message.fd);
  message.fd = -1;
  recorder.wait_for_stragglers();
  recorder.unmap();
  if (!others_may_come) {
    g_straggler.store(kNoStraggler);
    g_recording.store(false);
  }
  recorder.retire();
}

// Why another session cannot begin now.
Failure busy() {
  const std::int32_t tid = g_straggler.load();
  if (tid == kNoStraggler) {
    return {AgentStatus::kBusy, 0, "another session is recording in this JVM"};
  }
  char thread[64];
  char* end = os::write_text(thread, tid == 0 ? "a thread" : "thread ");
  if (tid != 0) {
    end = os::write_number(end, static_cast<std::uint64_t>(tid));
    end = os::write_text(end, " (");
    end += os::thread_name(tid, end, 15);
    end = os::write_text(end, ")");
  }
  *end = 0;
  return {AgentStatus::kHandlerBusy, 0, thread, " has not left the last session's signal handler"};
}

void run_session(const SessionRequest& request) {
  CallTrial trial;
  const Failure forbidden = trial.run();
  if (!trial.channel_works()) {
    return; // nobody can be told
  }
  if (forbidden.status == AgentStatus::kOk) {
    arch::system_call(SYS_prctl, PR_SET_NAME, os::as_argument("jprof"));
  }
  ControlChannel channel;
  if (!trial.may_receive()) {
    channel.do_not_receive();
  }
  if (channel.connect(request.options.socket) != 0) {
    return; // nobody to tell
  }
  say_hello(channel, request);
  if (forbidden.status != AgentStatus::kOk) {
    send_failure(channel, forbidden);
    return;
  }
  ReceivedMessage message;
  if (!receive_start(channel, &message)) {
    return;
  }
  Failure failure = check_start(message);
  if (failure.status == AgentStatus::kOk && g_vm_exits.load()) {
    failure = Failure{AgentStatus::kVmExiting, 0, "the JVM is ending"};
  }
  if (failure.status == AgentStatus::kOk && g_recording.exchange(true)) {
    failure = busy();
  }
  if (failure.status != AgentStatus::kOk) {
    send_failure(channel, failure);
  } else {
    record(channel, message, request);
  }
  if (message.fd >= 0) {
    os::close_fd(message.fd);
  }
}

void* session_thread(void* argument) {
  auto* slot = static_cast<RequestSlot*>(argument);
  const SessionRequest request = slot->request;
  slot->taken.store(false);
  const std::int32_t tid = os::thread_id();
  recording::register_agent_thread(tid);
  run_session(request);
  recording::forget_agent_thread(tid);
  return nullptr;
}

// Finds libc's thread functions by name: in old releases they are in another library, which a JVM
// has loaded.
int start_thread(void* (*function)(void*), void* argument) {
  using AttributeInit = int (*)(void*);
  using AttributeSize = int (*)(void*, std::size_t);
  using AttributeState = int (*)(void*, int);
  using Create = int (*)(unsigned long*, const void*, void* (*)(void*), void*);
  const auto init = reinterpret_cast<AttributeInit>(os::find_symbol_anywhere("pthread_attr_init"));
  const auto set_size =
      reinterpret_cast<AttributeSize>(os::find_symbol_anywhere("pthread_attr_setstacksize"));
  const auto set_state =
      reinterpret_cast<AttributeState>(os::find_symbol_anywhere("pthread_attr_setdetachstate"));
  const auto create = reinterpret_cast<Create>(os::find_symbol_anywhere("pthread_create"));
  if (init == nullptr || set_size == nullptr || set_state == nullptr || create == nullptr) {
    return ENOSYS;
  }
  alignas(16) unsigned char attributes[128]; // pthread_attr_t: 56 bytes (64 on aarch64 glibc)
  constexpr int kDetached = 1;
  init(attributes);
  set_state(attributes, kDetached);
  unsigned long thread = 0;
  if (set_size(attributes, kThreadStackBytes) == 0) {
    const int result = create(&thread, attributes, function, argument);
    if (result != EINVAL) {
      return result;
    }
  }
  // Too small for this process's thread-local storage: use the default size.
  init(attributes);
  set_state(attributes, kDetached);
  return create(&thread, attributes, function, argument);
}

} // namespace

int begin_session(const SessionRequest& request) {
  for (RequestSlot& slot : g_requests) {
    if (slot.taken.exchange(true)) {
      continue;
    }
    slot.request = request;
    // The thread inherits the mask: the kernel must never choose it for a signal of the JVM.
    const std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, os::as_argument(&all),
                      os::as_argument(&before), 8);
    const int result = start_thread(session_thread, &slot);
    arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, os::as_argument(&before), 0, 8);
    if (result != 0) {
      slot.taken.store(false);
    }
    return result;
  }
  return EBUSY;
}

void end_session_for_exit(std::uint64_t timeout_ns) {
  g_vm_exits.store(true);
  const std::uint64_t deadline = os::clock_ns(CLOCK_MONOTONIC) + timeout_ns;
  while (g_recording.load() && os::clock_ns(CLOCK_MONOTONIC) < deadline) {
    os::sleep_ns(1'000'000);
  }
}

} // namespace jprof::agent
