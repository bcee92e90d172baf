// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/session/cpu_clocks.h"

#include "agent/os/system.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent {
namespace {

using wire::Counter;

void set(sampling::Sampler& sampler, Counter which, std::uint64_t value) {
  sampling::store_relaxed(sampling::counter(sampler, which), value);
}

} // namespace

// The agent's clock is always read first, so that the process's clock includes all of it.
void CpuClocks::begin(sampling::Sampler& sampler) {
  agent_at_begin_ns_ = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  agent_before_turns_ns_ = agent_at_begin_ns_;
  process_before_turns_ns_ = os::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  set(sampler, Counter::kProcessCpuNanosAtStart, process_before_turns_ns_);
}

void CpuClocks::begin_end() {
  agent_before_turns_ns_ = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  process_before_turns_ns_ = os::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

// Threads are armed, and disarmed, one after another, and between any two this thread may be
// preempted, or throttled for most of a period. The process's clock can also have been up to a tick
// behind at the first reading: reading a thread's clock brings it up to date, and arming has read
// them all.
void CpuClocks::note_turns(sampling::Sampler& sampler) const {
  const std::uint64_t agent = os::clock_ns(CLOCK_THREAD_CPUTIME_ID) - agent_before_turns_ns_;
  const std::uint64_t all = os::clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process_before_turns_ns_;
  sampling::count(sampler, Counter::kArmingCpuNanos, all > agent ? all - agent : 0);
}

void CpuClocks::note(sampling::Sampler& sampler, bool settled) {
  const std::uint64_t agent = os::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  set(sampler, Counter::kProcessCpuNanosAtStop, os::clock_ns(CLOCK_PROCESS_CPUTIME_ID));
  set(sampler, Counter::kAgentCpuNanosBetween, agent - agent_at_begin_ns_);
  set(sampler, Counter::kAgentCpuNanos, agent);
  if (settled && !settled_) {
    settled_ = true;
    set(sampler, Counter::kAgentCpuNanosSettled, agent - agent_at_begin_ns_);
    set(sampler, Counter::kSettledNanos,
        os::clock_ns(CLOCK_MONOTONIC) - sampler.header->start_mono_ns);
  }
}

} // namespace jprof::agent
