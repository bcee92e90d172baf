// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording part of a session: region, handlers and timers, and their removal in the only order
// that cannot kill the JVM (docs/design/agent.md). One at a time; the session's thread only.

#include "agent/control/control_channel.h"
#include "agent/control/failure.h"
#include "agent/engines/delivery_cost.h"
#include "agent/jvm/java_thread.h"
#include "agent/session/cpu_clocks.h"
#include "agent/session/overhead_limit.h"
#include "lib/wire/control.h"
#include "lib/wire/region.h"

#include <jni.h>

#include <atomic>
#include <cstdint>

namespace jprof::agent {

inline constexpr std::int64_t kTickNs = 20'000'000; // how long the agent's thread sleeps

class Recorder {
 public:
  Recorder(ControlChannel& channel, const wire::StartMessage& start,
           const std::atomic<bool>& vm_exits, JavaVM* java_vm)
      : channel_(channel), start_(start), vm_exits_(vm_exits), java_vm_(java_vm) {}

  // Maps the region, reads the JVM's layout, installs the handlers, arms the threads and tells the
  // sidecar. After a failure, abandon() undoes what was begun, as stop() does.
  Failure begin(int region_fd, const jvm::JavaThreadKey& java_thread_key);
  void abandon();

  // Records until something ends it.
  wire::StopReason run();
  // Ends sampling. The region is final afterwards, except for what stragglers still write.
  void stop(wire::StopReason reason);
  // Tells the sidecar, which may then begin another session at once, unless there are stragglers.
  void say_stopped();
  // Stragglers are handlers that had not returned by the stop's deadline. Until
  // wait_for_stragglers() returns they use the region and everything else that belongs to a
  // session.
  bool has_stragglers() const { return in_flight_ != 0; }
  // The thread of one of them; 0 if none is known.
  std::int32_t straggler() const;
  // Waits until they have returned or the JVM ends, without a time limit, then takes back what they
  // needed.
  void wait_for_stragglers();
  void unmap();
  // Waits at most a minute until the signal's handler can be removed, if it is still installed.
  void retire();

 private:
  Failure read_jvm(const jvm::JavaThreadKey& java_thread_key);
  Failure take_signal();
  Failure open_walker();
  void close_walker(wire::StopReason reason);
  Failure arm_threads();
  void write_header();
  void begin_time();
  void take_back();
  bool handle_messages(wire::StopReason* reason);
  void answer(const ReceivedMessage& message);
  void learn_jvm();
  bool every_half_second(std::uint64_t now_ns, wire::StopReason* reason);
  bool over_limit(std::uint64_t now_ns);

  ControlChannel& channel_;
  wire::StartMessage start_;
  const std::atomic<bool>& vm_exits_;
  JavaVM* java_vm_;
  void* region_ = nullptr;
  int signal_ = 0;
  std::uint64_t received_ns_ = 0;
  std::uint64_t stop_ns_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t owner_ = 0; // of the handlers: retirement.h
  wire::HandlerLeft handler_left_{};
  wire::StopReason stop_reason_ = wire::StopReason::kNone;
  std::int64_t wait_ns_ = kTickNs;
  bool handlers_installed_ = false;
  CpuClocks cpu_clocks_;
  OverheadLimit limit_;
  engines::DeliveryCost delivery_;
};

} // namespace jprof::agent
