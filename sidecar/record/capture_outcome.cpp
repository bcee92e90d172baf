// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_outcome.h"

#include "lib/base/duration.h"
#include "sidecar/record/cpu_account.h"
#include "sidecar/record/overhead.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace jprof::record {
namespace {

using wire::Counter;

// A method's name may take 64 KiB; the recording has all of it.
constexpr std::size_t kMaxNameBytes = 512;

AgentCost cost_of(const RecorderResult& result) {
  const std::uint64_t signals = result.counter(Counter::kEntered);
  std::uint64_t delivery = 0;
  if (__builtin_mul_overflow(signals, result.counter(Counter::kDeliveryNanos), &delivery)) {
    delivery = UINT64_MAX;
  }
  return {.thread_cpu = nanos(result.counter(Counter::kAgentCpuNanos)),
          .handlers = nanos(result.counter(Counter::kHandlerNanos)),
          .longest_handler = nanos(result.counter(Counter::kHandlerMaxNanos)),
          .delivery = nanos(delivery),
          .start = nanos(result.counter(Counter::kStartNanos))};
}

// What the agent gave up to stay within the limit on its cost; empty if nothing.
std::string lost_detail(const RecorderResult& result) {
  if (result.counter(Counter::kDetailLost) == 0) {
    return {};
  }
  std::string text = "to cost the JVM no more than asked, the interval was raised to " +
                     base::format_duration(nanos(result.counter(Counter::kIntervalNanosNow)));
  if (wire::detail_after(result.counter(Counter::kDetailLost)).max_depth <= result.max_depth &&
      result.max_depth > 0) {
    text += " and stacks were cut to " + std::to_string(result.max_depth) + " frames";
  }
  return text + " (see --max-overhead)";
}

// Why timers were used although perf's clock was wanted; empty if it was used or not wanted.
std::string perf_refusal(const RecorderResult& result) {
  const std::uint64_t refusal = result.counter(Counter::kPerfRefusal);
  std::string why;
  switch (refusal) {
  case 0:
    return {};
  case wire::kPerfNotTried:
    why = "a seccomp filter in the JVM's container may kill the JVM for trying";
    break;
  case wire::kPerfNeedsSigprof:
    why = "it needs SIGPROF, which another profiler in the JVM uses";
    break;
  case EACCES:
    why = "kernel.perf_event_paranoid is above 1 and the JVM has no CAP_PERFMON";
    break;
  case EPERM:
  case ENOSYS:
    why = "the kernel or the container's seccomp profile does not allow it";
    break;
  case EMFILE:
  case ENFILE:
    why = "the JVM has no descriptors left";
    break;
  default:
    why = "the kernel refused it (errno " + std::to_string(refusal) + ")";
  }
  return "perf's clock, which keeps intervals below the kernel's tick, could not be used: " + why;
}

void add_unsampled(const ThreadRegistry::Unsampled& unsampled, const char* why,
                   std::vector<std::string>& notes) {
  if (unsampled.cpu.count() > 0) {
    notes.push_back(std::to_string(unsampled.threads) + " threads " + why + ": " +
                    base::format_duration(unsampled.cpu) +
                    " of CPU time are in this profile without a stack");
  }
}

void add_timer_limit(const RecorderResult& result, std::vector<std::string>& notes) {
  const std::uint64_t refused = result.counter(Counter::kTimerLimit);
  if (refused > 0) {
    notes.push_back(
        "there were fewer timers than threads, because the kernel limits how many a user has "
        "(RLIMIT_SIGPENDING, ulimit -i; jprof takes at most half of what is free): " +
        std::to_string(refused) + " threads found none, and timers were moved " +
        std::to_string(result.counter(Counter::kTimersMoved)) +
        " times from a thread that was idle or had had its turn to one that was working. No time "
        "is lost, but a thread's first sample stands for all of its time without a timer");
  }
}

// What keeps a thread from taking a signal that may be pending for it.
std::string why_held(const wire::HandlerLeft& left) {
  if (left.tracer != 0) {
    return "is traced by process " + std::to_string(left.tracer);
  }
  switch (left.state) {
  case 't':
    return "is held by a tracer outside its container";
  case 'T':
    return "is stopped";
  default:
    return "has not run since";
  }
}

void add_leftovers(const RecorderResult& result, std::vector<std::string>& notes) {
  if (result.jvm_gone || result.reason == wire::StopReason::kVmExit) {
    return; // nothing remains in a JVM that has ended
  }
  if (result.stragglers > 0) {
    notes.push_back("threads that had not left our signal handler 2 s after the stop: " +
                    std::to_string(result.stragglers) +
                    "; the agent waits for them, and no capture of this JVM begins before");
  }
  if (const wire::HandlerLeft& left = result.handler_left; left.threads > 0) {
    notes.push_back(
        "a signal handler that does nothing stays in the JVM for now, because threads "
        "may still receive one of our signals (" +
        std::to_string(left.threads) + "; thread " + std::to_string(left.tid) + " " +
        why_held(left) +
        "): the agent removes it within a minute if it can; otherwise the next capture does");
  }
}

// What the agent could not undo because of a seccomp filter that was installed during the capture.
void add_refused(const RecorderResult& result, std::vector<std::string>& residue) {
  const std::uint64_t timers = result.counter(Counter::kTimersLeft);
  const std::uint64_t running = result.counter(Counter::kTimersRunning);
  const std::uint64_t refused = result.counter(Counter::kStopRefused);
  const auto is_refused = [refused](wire::StopRefusal what) {
    return (refused & static_cast<std::uint64_t>(what)) != 0;
  };
  if (running > 0) {
    residue.push_back(std::to_string(running) +
                      " timers keep sending signals, because seccomp refuses to delete them; our "
                      "signal handler, which does nothing now, stays to catch them");
  }
  if (timers > running) {
    residue.push_back(
        std::to_string(timers - running) +
        " timers that will never fire remain, because seccomp refuses to delete them");
  }
  if (is_refused(wire::StopRefusal::kHandlers)) {
    residue.push_back(
        "our signal handlers, which do nothing now, remain, because seccomp refuses rt_sigaction");
  }
  if (is_refused(wire::StopRefusal::kRegion)) {
    residue.push_back("the capture's shared memory remains mapped, because seccomp refuses munmap");
  }
}

} // namespace

void fill_outcome(const RecorderResult& result, CaptureOutcome& out) {
  const profile::ProfileInfo& info = result.info;
  const profile::EventInfo& event = info.events.front();
  out.event = event.name;
  out.engine = event.engine;
  out.walker = event.walker;
  out.start = info.start;
  out.duration = info.duration;
  out.interval = event.interval;
  out.interval_got = event.interval_got;
  out.tick = result.tick;
  out.samples = result.samples;
  out.nominal_samples = result.nominal_samples;
  out.error_samples = result.error_samples;
  for (const ErrorReason& reason : result.error_reasons) {
    out.error_reasons.push_back({reason.label, reason.samples});
  }
  out.max_depth = result.max_depth;
  out.rests = result.rests.count;
  out.weight = result.weight;
  out.signals = result.counter(Counter::kEntered);
  out.in_flight = result.in_flight;
  out.accounted = result.accounted;
  out.losses = event.losses;
  out.process_cpu = result.coverage.process;
  out.threads = result.threads;
  out.threads_unarmed = result.counter(Counter::kThreadsNeverArmed);
  out.timers_refused = result.counter(Counter::kTimerLimit);
  out.timers_moved = result.counter(Counter::kTimersMoved);
  out.coverage = result.coverage;
  out.old_code = result.old_code;
  if (std::string warning = coverage_warning_of(result); !warning.empty()) {
    out.warnings.push_back(std::move(warning));
  }
  out.cost = cost_of(result);
  out.cost.limit_permille = result.max_overhead_permille;
  Overhead overhead = judge_overhead(result, out.cost);
  if (!overhead.warning.empty()) {
    out.warnings.push_back(std::move(overhead.warning));
  }
  if (!overhead.note.empty()) {
    out.notes.push_back(std::move(overhead.note));
  }
  out.hottest = result.hottest;
  out.interrupted = result.interrupted && !result.cut_short;
  out.partial = info.partial;
  out.partial_reason = info.partial_reason;
  out.cure = result.cure;
  if (result.counter(Counter::kLeftBehind) != 0) {
    out.residue.push_back("JVMTI's notifications of virtual thread mounts stay on until the JVM "
                          "ends, and make each mount 20 to 30 % slower");
  }
  add_refused(result, out.residue);
  if (const std::uint64_t signal = result.counter(Counter::kOtherSignal); signal != 0) {
    out.notes.push_back("another profiler in the JVM uses SIGPROF, so jprof used signal " +
                        std::to_string(signal));
  }
  if (std::string refusal = perf_refusal(result); !refusal.empty()) {
    out.notes.push_back(std::move(refusal));
  }
  if (const std::uint64_t threads = result.counter(Counter::kThreadsByTimer); threads > 0) {
    out.notes.push_back(
        std::to_string(threads) +
        " threads had a timer instead of perf's clock, because no descriptors were left");
  }
  if (std::string nominal = nominal_text(result); !nominal.empty()) {
    out.notes.push_back(std::move(nominal));
  }
  add_timer_limit(result, out.notes);
  add_unsampled(result.blocked, "block the sampling signal", out.notes);
  add_unsampled(result.never_armed, "got no timer", out.notes);
  add_unsampled(result.sandboxed, "have seccomp filters of their own and were left alone",
                out.notes);
  add_leftovers(result, out.notes);
  if (result.damaged > 0) {
    out.notes.push_back(
        std::to_string(result.damaged) +
        " entries that the JVM wrote are invalid (stacks or names that overlap, are deeper than "
        "asked for or do not exist; impossible times): the profile shows them as [damaged]");
  }
  if (std::string lost = lost_detail(result); !lost.empty()) {
    out.notes.push_back(std::move(lost));
  }
}

capture::Measured measured_of(const CaptureOutcome& outcome) {
  capture::Measured out;
  out.pid = outcome.pid;
  out.java_version = outcome.java_version;
  out.agent_version = outcome.agent_version;
  out.event = outcome.event;
  out.engine = outcome.engine;
  out.walker = outcome.walker;
  out.duration = outcome.duration;
  out.interval = outcome.interval;
  out.interval_got = outcome.interval_got;
  out.tick = outcome.tick;
  out.samples = outcome.samples;
  out.nominal_samples = outcome.nominal_samples;
  out.error_samples = outcome.error_samples;
  out.error_reasons = outcome.error_reasons;
  out.max_depth = outcome.max_depth;
  out.rests = outcome.rests;
  out.weight_ns = outcome.weight;
  out.signals = outcome.signals;
  out.in_flight = outcome.in_flight;
  out.accounted = outcome.accounted;
  out.process_cpu = outcome.process_cpu;
  out.coverage = outcome.coverage;
  out.old_code = outcome.old_code;
  out.warnings = outcome.warnings;
  out.threads = outcome.threads;
  out.threads_unarmed = outcome.threads_unarmed;
  out.timers_refused = outcome.timers_refused;
  out.timers_moved = outcome.timers_moved;
  out.cost = {outcome.cost.total(),         outcome.cost.thread_cpu, outcome.cost.handlers,
              outcome.cost.longest_handler, outcome.cost.delivery,   outcome.cost.start,
              outcome.cost.limit_permille};
  out.interrupted = outcome.interrupted;
  out.residue = outcome.residue;
  out.notes = outcome.notes;
  out.skipped = outcome.skipped_deliveries;
  for (const profile::Loss& loss : outcome.losses) {
    out.losses.push_back({loss.reason, loss.samples, loss.weight});
  }
  for (const MethodShare& method : outcome.hottest) {
    out.hottest.push_back({method.name.substr(0, kMaxNameBytes), method.samples, method.weight});
  }
  for (const base::Error& error : outcome.file_errors) {
    out.file_errors.push_back(error.text());
  }
  return out;
}

int CaptureOutcome::exit_code() const {
  if (!file_errors.empty()) {
    return base::exit_code(base::ErrorCode::kNotStored);
  }
  return partial ? base::exit_code(base::ErrorCode::kPartialCapture) : 0;
}

} // namespace jprof::record
