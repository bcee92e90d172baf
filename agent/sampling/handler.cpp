// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/handler.h"

#include "agent/arch/safe_load.h"
#include "agent/os/system.h"
#include "agent/sampling/fault_handler.h"
#include "agent/sampling/signal_handler.h"

#include <atomic>

namespace jprof::agent::sampling {
namespace {

using os::KernelSigaction;

constexpr int kMaxSignals = 64; // the kernel's _NSIG

// What ours replaced, by the signal's number.
struct Replaced {
  KernelSigaction action;
  bool known = false;
  bool stays = false; // ours, for good
};
Replaced g_replaced[kMaxSignals + 1];
int g_signal = 0; // of this session, or the last
std::atomic<Sampler*> g_sampler{nullptr};
std::atomic<std::uint32_t> g_calibrations{0};

void on_sampling_signal(int signal, siginfo_t* info, void* context) {
  static_cast<void>(signal);
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &g_calibrations) {
    g_calibrations.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  count_in(); // before the sampler is looked up: see wait_for_handlers
  bool counted_in = true;
  if (Sampler* sampler = g_sampler.load(); sampler != nullptr) {
    if (ThreadEntry* entry = sender_of(*sampler, *info); entry != nullptr) {
      counted_in = take_sample(*sampler, *entry, *info, context);
    } else if (os::process_id() == sampler->pid) { // a forked child has no region
      count(*sampler, wire::Counter::kEntered);
      count(*sampler, wire::Counter::kOutcomeForeign);
    }
  }
  if (counted_in) {
    count_out();
  }
}

bool is_ours(int signal) {
  KernelSigaction now;
  return os::signal_action(signal, nullptr, &now) == 0 &&
         now.handler == as_pointer(on_sampling_signal);
}

KernelSigaction our_action() {
  return make_action(on_sampling_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK, 0);
}

// Ignores the signal between two system calls; a program that the JVM starts in that moment would
// inherit this. `after` is the action to install then.
void ignore_for_a_moment(int signal, const KernelSigaction& after) {
  KernelSigaction ignore;
  ignore.handler = reinterpret_cast<void*>(SIG_IGN);
  KernelSigaction replaced;
  if (os::signal_action(signal, &ignore, &replaced) == 0) {
    const bool was_ours = replaced.handler == as_pointer(on_sampling_signal);
    os::signal_action(signal, was_ours ? &after : &replaced, nullptr);
  }
}

} // namespace

int free_signal() {
  // The C libraries keep the lowest real-time signals, and other code takes signals from SIGRTMIN
  // up; the JDK takes 62 when it loads libnet or libnio.
  constexpr int kRealTime[] = {64, 63, 61, 60, 59, 58, 57, 56};
  KernelSigaction now;
  const auto has_no_other = [&](int signal) {
    return os::signal_action(signal, nullptr, &now) == 0 &&
           (!is_function(now) || now.handler == as_pointer(on_sampling_signal));
  };
  if (has_no_other(SIGPROF)) {
    return SIGPROF;
  }
  for (const int signal : kRealTime) {
    if (has_no_other(signal) && now.handler != reinterpret_cast<void*>(SIG_IGN)) {
      return signal;
    }
  }
  return SIGPROF;
}

InstallError install_handlers(int signal, std::uint64_t* taken_by) {
  if (signal < 1 || signal > kMaxSignals) {
    return InstallError::kRefused;
  }
  KernelSigaction before;
  if (os::signal_action(signal, nullptr, &before) != 0) {
    return InstallError::kRefused;
  }
  if (before.handler != as_pointer(on_sampling_signal)) {
    if (is_function(before)) {
      *taken_by = reinterpret_cast<std::uint64_t>(before.handler);
      return InstallError::kSignalTaken;
    }
    g_replaced[signal] = {.action = before, .known = true, .stays = g_replaced[signal].stays};
  } // else it has stayed, or somebody has restored it, and what it replaced is known
  if (!arch::kernel_loads() && !install_fault_handlers()) {
    return InstallError::kRefused;
  }
  const KernelSigaction action = our_action();
  if (os::signal_action(signal, &action, nullptr) != 0) {
    restore_fault_handlers();
    return InstallError::kRefused;
  }
  g_signal = signal;
  return InstallError::kNone;
}

void* calibration_mark() {
  return &g_calibrations;
}

std::uint32_t calibration_signals() {
  return g_calibrations.load(std::memory_order_relaxed);
}

void publish(Sampler* sampler) {
  guard(sampler);
  g_sampler.store(sampler);
}

void withdraw() {
  g_sampler.store(nullptr);
}

bool handler_is_ours() {
  return is_ours(g_signal);
}

void drop_pending_signals() {
  if (is_ours(g_signal)) {
    ignore_for_a_moment(g_signal, our_action());
  }
}

std::uint32_t wait_for_handlers(std::uint64_t timeout_ns) {
  // A handler that was counted in before withdraw() may still use the sampler; a later one sees
  // none. Both sides use sequentially consistent operations.
  const std::uint64_t deadline = os::clock_ns(CLOCK_MONOTONIC) + timeout_ns;
  std::uint32_t inside = 0;
  while ((inside = handlers_inside()) != 0 && os::clock_ns(CLOCK_MONOTONIC) < deadline) {
    os::sleep_ns(1'000'000);
  }
  return inside;
}

void keep_signal_handler() {
  g_replaced[g_signal].stays = true;
}

bool actions_can_be_changed() {
  KernelSigaction now;
  return os::signal_action(g_signal, nullptr, &now) == 0;
}

void restore_signal_handlers() {
  for (int signal = 1; signal <= kMaxSignals; ++signal) {
    if (g_replaced[signal].known && !g_replaced[signal].stays && is_ours(signal)) {
      ignore_for_a_moment(signal, g_replaced[signal].action); // a tracer may have queued another
    }
  }
}

} // namespace jprof::agent::sampling
