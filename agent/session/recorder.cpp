// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/recorder.h"

#include "agent/engines/cpu_timer.h"
#include "agent/jvm/frozen_layout.h"
#include "agent/jvm/inlining_detail.h"
#include "agent/jvm/mount_notifications.h"
#include "agent/jvm/stub_list.h"
#include "agent/jvm/tool_interface.h"
#include "agent/jvm/vm_structs.h"
#include "agent/os/modules.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/code_age.h"
#include "agent/recording/generations.h"
#include "agent/recording/module_symbols.h"
#include "agent/recording/module_table.h"
#include "agent/recording/region_layout.h"
#include "agent/recording/safepoint_stacks.h"
#include "agent/recording/thread_table.h"
#include "agent/sampling/fault_handler.h"
#include "agent/sampling/handler.h"
#include "agent/sampling/sampler.h"
#include "agent/sampling/shared_memory.h"
#include "agent/session/region_mapping.h"
#include "agent/signals/handler_setup.h"
#include "agent/signals/leftovers.h"
#include "agent/signals/open_visits.h"
#include "agent/signals/retirement.h"
#include "lib/wire/detail.h"

namespace jprof::agent {
namespace {

using sampling::store_release;
using wire::AgentStatus;
using wire::Counter;
using wire::RegionState;
using wire::StopReason;

constexpr std::uint64_t kMinWaitNs = 1'000'000;
constexpr std::uint64_t kHandlersEveryNs = 12'000'000; // at every look, except those 5 ms apart
constexpr std::uint64_t kHalfSecondNs = 500'000'000;
constexpr std::uint64_t kModulesEveryNs = 250'000'000;
constexpr std::uint64_t kHandlerTimeoutNs = 2'000'000'000;
// For signals that a thread may still hold: how long the stop waits, and then the agent's thread.
constexpr std::uint64_t kHeldTimeoutNs = 250'000'000;
constexpr std::uint64_t kHeldPatienceNs = 60'000'000'000;

// Only one session records at a time (session.cpp), so its parts can be static. They are not
// touched once the handlers are gone.
sampling::Sampler g_sampler;
sampling::ModuleMap g_module_maps[2];
recording::PrivateTables g_tables;
recording::ThreadTable g_threads;
recording::ModuleTable g_modules;
recording::Generations g_generations;
recording::SafepointStacks g_safepoint_stacks;
jvm::ToolInterface g_tools;
jvm::InliningDetail g_inlining_detail;
OpenVisits g_open_visits;

std::uint64_t now_ns() {
  return os::clock_ns(CLOCK_MONOTONIC);
}

void set(Counter which, std::uint64_t value) {
  sampling::store_relaxed(sampling::counter(g_sampler, which), value);
}
std::uint64_t get(Counter which) {
  return sampling::load_relaxed(sampling::counter(g_sampler, which));
}

} // namespace

Failure Recorder::begin(int region_fd, const jvm::JavaThreadKey& java_thread_key) {
  received_ns_ = now_ns();
  signal_ = start_.signal == 0 ? sampling::free_signal() : static_cast<int>(start_.signal);
  if (!os::proc_is_ours()) {
    return {AgentStatus::kOtherPidNamespace, 0, "/proc belongs to another PID namespace"};
  }
  if (Failure refused = check_end(); refused.status != AgentStatus::kOk) {
    return refused;
  }
  Failure failure = map_region(region_fd, start_.region_bytes, &region_);
  if (failure.status == AgentStatus::kOk &&
      !recording::lay_out(region_, start_.region_bytes, os::count_threads(), &g_sampler,
                          &g_tables)) {
    failure = {AgentStatus::kRegionTooSmall, 0, "the region cannot be divided"};
  }
  if (failure.status == AgentStatus::kOk) {
    failure = read_jvm(java_thread_key);
  }
  if (failure.status == AgentStatus::kOk) {
    write_header();
    failure = take_signal();
  }
  if (failure.status == AgentStatus::kOk) {
    g_modules.refresh(g_sampler.header->start_mono_ns); // not before loads are protected
    failure = open_walker();
  }
  if (failure.status == AgentStatus::kOk) {
    learn_jvm();
    sampling::publish(&g_sampler);
  }
  return failure.status == AgentStatus::kOk ? arm_threads() : failure;
}

Failure Recorder::read_jvm(const jvm::JavaThreadKey& java_thread_key) {
  g_sampler.vm = sampling::VmLayout{};
  const char* missing = "";
  switch (jvm::read_layout(&g_sampler.vm, &missing)) {
  case jvm::LayoutError::kNoTables:
    return {AgentStatus::kNoVmStructs, 0, "libjvm.so does not export gHotSpotVMStructs"};
  case jvm::LayoutError::kMissingField:
    return {AgentStatus::kUnsupportedJvm, 0, "this JVM does not describe ", missing};
  case jvm::LayoutError::kNone:
    break;
  }
  if (java_thread_key.env_offset < 0) {
    return {AgentStatus::kUnsupportedJvm, 0, "this JVM keeps its threads in no pthread key"};
  }
  g_sampler.vm.thread_key = java_thread_key.key;
  g_sampler.vm.env_offset = java_thread_key.env_offset;
  g_sampler.vm.jni_functions = java_thread_key.jni_functions;
  g_sampler.thread_specific =
      reinterpret_cast<void* (*)(unsigned)>(os::find_symbol_anywhere("pthread_getspecific"));
  void* clock = os::find_symbol_anywhere("__vdso_clock_gettime");
  if (clock == nullptr) {
    clock = os::find_symbol_anywhere("__kernel_clock_gettime"); // aarch64
  }
  g_sampler.clock = reinterpret_cast<long (*)(int, void*)>(clock);
  return {};
}

void Recorder::write_header() {
  auto& header = *g_sampler.header;
  g_sampler.max_depth = start_.max_depth == 0 || start_.max_depth > sampling::kMaxScratchDepth
                            ? sampling::kMaxScratchDepth
                            : start_.max_depth;
  g_sampler.checks_cache =
      (start_.flags & static_cast<std::uint64_t>(wire::StartFlag::kCheckCache)) != 0;
  g_sampler.pid = os::process_id();
  header.version = wire::kRegionVersion;
  header.min_reader_version = wire::kMinReaderVersion;
  header.region_bytes = start_.region_bytes;
  header.session[0] = start_.session[0];
  header.session[1] = start_.session[1];
  header.walker = start_.walker;
  header.interval_ns = start_.interval_ns;
  begin_time();
  header.pid = static_cast<std::uint32_t>(g_sampler.pid);
  header.counter_count = wire::kMaxCounters;
  header.max_depth = g_sampler.max_depth;
  g_sampler.generation_gate.reset();
  g_sampler.module_gate.reset();
  g_sampler.modules = g_module_maps;
  g_generations.begin(&g_sampler);
  g_threads.begin(&g_sampler, g_tables, signal_, start_.interval_ns,
                  static_cast<wire::Engine>(start_.engine)); // abandon() may need it
  g_open_visits.begin(&g_sampler, signal_);
  header.engine = static_cast<std::uint32_t>(g_threads.engine());
  header.tick_ns = g_threads.engine() == wire::Engine::kCpuTimer ? engines::tick_ns() : 0;
  g_modules.begin(&g_sampler, g_tables);
  store_release(header.state, static_cast<std::uint32_t>(RegionState::kRecording));
  store_release(header.magic, wire::kRegionMagic);
}

// The time needed to get ready is not deducted from the duration.
void Recorder::begin_time() {
  auto& header = *g_sampler.header;
  header.start_mono_ns = now_ns();
  header.start_realtime_ns = os::clock_ns(CLOCK_REALTIME);
  header.deadline_mono_ns = header.start_mono_ns + start_.duration_ns;
  header.heartbeat_mono_ns = header.start_mono_ns;
}

Failure Recorder::take_signal() {
  const Failure failure = set_up_handlers(start_, signal_, &owner_);
  if (failure.status == AgentStatus::kOk) {
    handlers_installed_ = true;
    os::block_all_signals_but_faults(); // from here on this thread too reads what may not be there
    g_sampler.signals_carry_timer_id = engines::signals_carry_timer_id(signal_);
  }
  return failure;
}

// Prepares what the JVM's own walkers need; ours needs nothing. After the handlers are installed:
// this thread becomes one of the JVM's, which must get its faults.
Failure Recorder::open_walker() {
  const auto walker = static_cast<wire::Walker>(start_.walker);
  g_sampler.call_trace = nullptr;
  g_sampler.waiting = nullptr;
  if (walker == wire::Walker::kVmStructs) {
    return {};
  }
  if (g_sampler.vm.java_feature > sampling::kLastFeatureWithMethodPointers) {
    return {AgentStatus::kWalkerUnavailable, 0, "this JVM's method ids cannot be read"};
  }
  const bool agreed =
      (start_.flags & static_cast<std::uint64_t>(wire::StartFlag::kMayLeaveBehind)) != 0;
  const jvm::MountNotifications before = jvm::mount_notifications(g_sampler.vm.java_feature);
  const bool leaves =
      before == jvm::MountNotifications::kOff || before == jvm::MountNotifications::kUnknown;
  if (leaves && !agreed) {
    return {AgentStatus::kLeavesBehind, 0, ""};
  }
  // Even if open() fails: the JVM makes this change first.
  set(Counter::kLeftBehind, leaves ? 1 : 0);
  const char* why = g_tools.open(java_vm_);
  if (why == nullptr && walker == wire::Walker::kAsyncGetCallTrace) {
    g_sampler.call_trace = os::find_symbol_in("libjvm.so", "AsyncGetCallTrace");
    why = g_sampler.call_trace == nullptr ? "libjvm.so exports no AsyncGetCallTrace"
                                          : g_tools.make_method_ids();
  } else if (why == nullptr) {
    g_safepoint_stacks.begin(&g_sampler, g_tables, &g_tools, walker);
    const std::uint64_t interval =
        start_.interval_ns > kMinWaitNs ? start_.interval_ns : kMinWaitNs;
    wait_ns_ = interval < kTickNs ? static_cast<std::int64_t>(interval) : kTickNs;
  }
  return why == nullptr ? Failure{} : Failure{AgentStatus::kWalkerUnavailable, 0, why};
}

void Recorder::close_walker(StopReason reason) {
  if (g_safepoint_stacks.is_active()) {
    if (reason != StopReason::kVmExit) { // a JVM that ends may never answer
      g_safepoint_stacks.tick();
    }
    g_safepoint_stacks.finish();
  }
  if (reason != StopReason::kVmExit) {
    g_tools.close();
  }
}

Failure Recorder::arm_threads() {
  begin_time();
  set(Counter::kIntervalNanosNow, start_.interval_ns);
  set(Counter::kOtherSignal, signal_ == SIGPROF ? 0 : static_cast<std::uint64_t>(signal_));
  cpu_clocks_.begin(g_sampler);
  g_threads.arm_first();
  cpu_clocks_.note_turns(g_sampler);
  if (g_threads.armed() == 0) {
    return {AgentStatus::kNoTimers, g_threads.last_error(),
            "not one timer could be made (RLIMIT_SIGPENDING?)"};
  }
  g_threads.name_first(); // before the sidecar looks, which would write them without names
  const std::uint64_t start_nanos = g_threads.first_armed_ns() - received_ns_;
  set(Counter::kStartNanos, start_nanos);
  auto started = make_message<wire::StartedMessage>(wire::ControlType::kStarted);
  started.threads_armed = g_threads.armed();
  started.threads_failed = g_threads.failed();
  started.start_mono_ns = g_sampler.header->start_mono_ns;
  started.start_nanos = start_nanos;
  channel_.send(&started, sizeof started);
  return {};
}

void Recorder::abandon() {
  if (handlers_installed_) {
    stop(StopReason::kAgentError);
  }
}

StopReason Recorder::run() {
  const std::uint64_t deadline = g_sampler.header->deadline_mono_ns;
  std::uint64_t next_slow = 0;
  std::uint64_t next_tick = 0;
  std::uint64_t next_handlers = 0;
  std::uint64_t next_modules = 0;
  StopReason reason = StopReason::kNone;
  // This and what follows need not precede the first sample.
  recording::note_code_age(g_sampler, g_inlining_detail.turn_on());
  touch_region(region_, start_.region_bytes);
  limit_ = OverheadLimit(start_.max_overhead_permille);
  for (;;) {
    if (handle_messages(&reason)) {
      return reason;
    }
    const std::uint64_t now = now_ns();
    if (vm_exits_.load()) {
      return StopReason::kVmExit;
    }
    if (now >= deadline) {
      return StopReason::kDeadline;
    }
    // Stop soon: whoever took the signal over may restore the default action, and our next signal
    // would then end the JVM.
    if (now >= next_handlers) {
      next_handlers = now + kHandlersEveryNs;
      if (!sampling::handler_is_ours()) {
        return StopReason::kHandlerReplaced;
      }
      sampling::keep_fault_handlers();
    }
    if (g_safepoint_stacks.is_active()) {
      g_safepoint_stacks.tick();
    }
    g_threads.find_births(now);
    if (now < next_tick) {
      continue;
    }
    next_tick = now + static_cast<std::uint64_t>(kTickNs);
    g_threads.tick(now);
    g_generations.tick();
    if (now >= next_modules) {
      next_modules = now + kModulesEveryNs;
      g_modules.refresh(now);
    }
    if (now >= next_slow) {
      next_slow = now + kHalfSecondNs;
      if (every_half_second(now, &reason)) {
        return reason;
      }
    }
  }
}

// True if a message, or a hang-up, ends the session. Waits until the next look if there is none.
bool Recorder::handle_messages(StopReason* reason) {
  ReceivedMessage message;
  const std::int64_t look = g_threads.look_every_ns(now_ns());
  for (std::int64_t wait = wait_ns_ < look ? wait_ns_ : look;; wait = 0) {
    switch (channel_.receive(&message, wait)) {
    case ReceiveResult::kNothing:
      return false;
    case ReceiveResult::kHangUp:
      *reason = StopReason::kPeerGone;
      return true;
    case ReceiveResult::kRefused:
      *reason = StopReason::kAgentError;
      return true;
    case ReceiveResult::kMessage:
      break;
    }
    const bool stop = message.type() == wire::ControlType::kStop;
    if (!stop) {
      answer(message);
    }
    if (message.fd >= 0) {
      os::close_fd(message.fd);
    }
    if (stop) {
      *reason = StopReason::kAsked;
      return true;
    }
  }
}

void Recorder::answer(const ReceivedMessage& message) {
  const auto* drained = message.as<wire::DrainedMessage>();
  if (message.type() == wire::ControlType::kDrained && drained != nullptr) {
    const std::uint64_t head = sampling::load_relaxed(g_sampler.header->ring_head);
    const std::uint64_t tail = sampling::load_relaxed(g_sampler.header->ring_tail);
    if (drained->ring_tail >= tail && drained->ring_tail <= head) {
      store_release(g_sampler.header->ring_tail, drained->ring_tail);
    }
    g_generations.drained(drained->drained_generation);
  }
  const auto* wanted = message.as<wire::SymbolsWantedMessage>();
  if (message.type() == wire::ControlType::kSymbolsWanted && wanted != nullptr) {
    const wire::SymbolsMessage symbols = recording::copy_symbols(*wanted, message.fd);
    channel_.send(&symbols, sizeof symbols);
  }
}

bool Recorder::every_half_second(std::uint64_t now, StopReason* reason) {
  if (delivery_.wants_more()) {
    delivery_.add(engines::measure_delivery(g_sampler, signal_));
    set(Counter::kDeliveryNanos, delivery_.median_ns());
  }
  g_open_visits.look();
  g_threads.update();
  cpu_clocks_.note(g_sampler, !delivery_.wants_more());
  store_release(g_sampler.header->heartbeat_mono_ns, now);
  if (over_limit(now)) {
    *reason = StopReason::kOverhead;
    return true;
  }
  return false;
}

// Runs before the first timer: until then a sample of a virtual thread would lack its callers. Runs
// after the handlers are installed: it reads memory that may not be there.
void Recorder::learn_jvm() {
  g_sampler.vm.stub_names = jvm::read_stub_names(g_sampler.vm);
  g_sampler.frozen.store(jvm::read_frozen_layout(g_sampler.vm), std::memory_order_release);
}

// Gives up detail, step by step, if sampling costs more than is allowed; true if no step helped.
bool Recorder::over_limit(std::uint64_t now) {
  const OverheadSample sample{.at_ns = now,
                              .handler_ns = get(Counter::kHandlerNanos),
                              .signals = get(Counter::kEntered),
                              .delivery_ns = get(Counter::kDeliveryNanos),
                              .process_cpu_ns = get(Counter::kProcessCpuNanosAtStop)};
  if (!limit_.is_exceeded(sample)) {
    return false;
  }
  const std::uint64_t step = get(Counter::kDetailLost) + 1;
  if (step > wire::kDetailSteps) {
    return true;
  }
  const wire::Detail detail = wire::detail_after(step);
  if (detail.max_depth < g_sampler.max_depth) {
    sampling::store_relaxed(g_sampler.max_depth, detail.max_depth);
    g_sampler.header->max_depth = detail.max_depth;
  }
  if (detail.interval_factor > 1) {
    const std::uint64_t interval = start_.interval_ns * detail.interval_factor;
    g_threads.set_interval(interval);
    set(Counter::kIntervalNanosNow, interval);
  }
  set(Counter::kDetailLost, step);
  return false;
}

// The order matters: docs/design/agent.md, "The stop".
void Recorder::stop(StopReason reason) {
  auto& header = *g_sampler.header;
  store_release(header.state, static_cast<std::uint32_t>(RegionState::kStopping));
  stop_ns_ = now_ns();
  cpu_clocks_.begin_end();
  g_threads.disarm_all();
  cpu_clocks_.note(g_sampler, false); // the JVM's work from here on is in no sample
  cpu_clocks_.note_turns(g_sampler);
  g_inlining_detail.restore();
  recording::keep_code_age(g_sampler, reason);
  g_threads.name_last_threads();
  sampling::drop_pending_signals();
  sampling::withdraw();
  in_flight_ = g_open_visits.wait(kHandlerTimeoutNs);
  stop_reason_ = reason;
  if (in_flight_ == 0) {
    take_back();
  }
  note_leftovers(g_sampler);
  retire_handlers(owner_, kHeldTimeoutNs, vm_exits_, &handler_left_);
  g_generations.close_all();
  set(Counter::kInFlightAtStop, in_flight_);
  set(Counter::kAgentCpuNanos, os::clock_ns(CLOCK_THREAD_CPUTIME_ID));
  header.stop_reason = static_cast<std::uint32_t>(reason);
  header.stop_mono_ns = stop_ns_;
  store_release(header.state, static_cast<std::uint32_t>(RegionState::kStopped));
}

// Takes back what handlers need. The order matters: the walker reads memory that may not be there.
void Recorder::take_back() {
  close_walker(stop_reason_);
  sampling::guard(nullptr);
  sampling::restore_fault_handlers();
}

void Recorder::say_stopped() {
  auto stopped = make_message<wire::StoppedMessage>(wire::ControlType::kStopped);
  stopped.reason = static_cast<std::uint32_t>(stop_reason_);
  stopped.in_flight = in_flight_;
  stopped.stop_mono_ns = stop_ns_;
  stopped.handler_left = handler_left_;
  channel_.send(&stopped, sizeof stopped);
}

std::int32_t Recorder::straggler() const {
  return sampling::thread_in_handler(g_sampler);
}

void Recorder::wait_for_stragglers() {
  constexpr std::uint64_t kLookEveryNs = 100'000'000;
  while (has_stragglers() && !vm_exits_.load()) {
    in_flight_ = g_open_visits.wait(kLookEveryNs);
    if (in_flight_ == 0) {
      take_back();
    }
  }
}

void Recorder::retire() {
  if (handler_left_.threads != 0) {
    retire_handlers(owner_, kHeldPatienceNs, vm_exits_, &handler_left_);
  }
}

void Recorder::unmap() {
  if (region_ != nullptr && !has_stragglers()) {
    arch::system_call(SYS_munmap, reinterpret_cast<long>(region_),
                      static_cast<long>(start_.region_bytes));
    region_ = nullptr;
  }
}

} // namespace jprof::agent
