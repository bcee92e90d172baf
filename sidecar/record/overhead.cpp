// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/overhead.h"

#include "sidecar/record/cpu_account.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace jprof::record {
namespace {

using capture::time_text;
using std::chrono::nanoseconds;
using wire::Counter;

constexpr int kBurden = 1000;                  // costs below a thousandth of a CPU burden nobody
constexpr int kMinShare = 10;                  // a tenth of a CPU
constexpr nanoseconds kMuch{100'000'000};      // for the one-time cost
constexpr nanoseconds kMinLook{1'000'000'000}; // in less time the agent's thread is not steady

std::string share_text(nanoseconds part, nanoseconds whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
  return text;
}

// The recurring part of the CPU time of the agent's thread. The agent notes when all one-time work
// was done; the rate at which its thread worked from then on is applied to the whole capture. 0 if
// that time was too short to tell, and for an agent that does not note it.
nanoseconds steady_work(const RecorderResult& result, const AgentCost& cost) {
  const nanoseconds between = nanos(result.counter(Counter::kAgentCpuNanosBetween));
  const nanoseconds settled = nanos(result.counter(Counter::kAgentCpuNanosSettled));
  const nanoseconds before = nanos(result.counter(Counter::kSettledNanos));
  const nanoseconds duration = result.info.duration;
  if (before.count() == 0 || before > duration - kMinLook || settled > between) {
    return nanoseconds(0);
  }
  const double length =
      static_cast<double>(duration.count()) / static_cast<double>((duration - before).count());
  const double steady = length * static_cast<double>((between - settled).count());
  return std::min(cost.thread_cpu, nanos(static_cast<std::uint64_t>(steady)));
}

std::string cost_text(const RecorderResult& result, const AgentCost& cost) {
  const nanoseconds used = result.coverage.process;
  char asked[32];
  std::snprintf(asked, sizeof asked, "%g %%",
                static_cast<double>(result.max_overhead_permille) / 10);
  const char* least = used < result.info.duration / kMinShare ? " (of a tenth of a CPU)" : "";
  return "the capture cost " + share_text(cost.total(), used) +
         " of the CPU time that the JVM used, more than the " + asked + " of --max-overhead" +
         least + ": " + time_text(cost.total()) + " (" + time_text(cost.thread_cpu) +
         " of it in the agent's thread) of " + time_text(used) + ", or " +
         share_text(cost.total(), result.info.duration) + " of a CPU; ";
}

} // namespace

Overhead judge_overhead(const RecorderResult& result, const AgentCost& cost) {
  const nanoseconds used = result.coverage.process;
  const nanoseconds duration = result.info.duration;
  if (result.max_overhead_permille == 0 || used.count() <= 0 || duration.count() <= 0 ||
      result.coverage.at_least) {
    return {};
  }
  const auto base = static_cast<double>(std::max(used, duration / kMinShare).count());
  const auto is_too_much = [&](nanoseconds part) {
    return part >= duration / kBurden &&
           static_cast<double>(part.count()) * 1000 > base * result.max_overhead_permille;
  };
  if (!is_too_much(cost.total())) {
    return {};
  }
  const nanoseconds samples = cost.handlers + cost.delivery;
  const nanoseconds steady = steady_work(result, cost);
  const nanoseconds once = cost.thread_cpu - steady;
  Overhead out;
  if (is_too_much(samples + steady)) {
    out.warning = cost_text(result, cost) +
                  (samples >= steady ? "a longer --interval costs less"
                                     : "most of it is the agent's thread, which takes as much of a "
                                       "CPU at any --interval and for any --duration");
  } else if (once >= kMuch) {
    out.warning = cost_text(result, cost) + time_text(once) +
                  " of it is what every capture does once, which a longer --duration spreads";
  } else {
    out.note = cost_text(result, cost) + time_text(once) +
               " of it is what every capture does once, and this one was short: a longer "
               "--duration costs a smaller share";
  }
  return out;
}

} // namespace jprof::record
