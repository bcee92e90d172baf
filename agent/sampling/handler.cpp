// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/handler.h"

#include "agent/arch/arch.h"
#include "agent/os/system.h"

#include <atomic>

namespace jprof::agent::sampling {
namespace {

using os::KernelSigaction;

constexpr unsigned long kRestorerFlag = 0x04000000; // SA_RESTORER of the kernel's <asm/signal.h>

// The actions that ours replaced. They stay valid after a session: somebody may have chained to us.
struct Replaced {
  int signal = 0;
  KernelSigaction action;
  std::atomic<bool> installed{false};
};
Replaced g_sampling;
Replaced g_faults[2];
std::atomic<Sampler*> g_sampler{nullptr};
std::atomic<Sampler*> g_guarded{nullptr}; // the same, until no handler uses it any more
std::atomic<std::uint32_t> g_in_flight{0};
std::atomic<std::uint32_t> g_calibrations{0};

using Handler = void (*)(int, siginfo_t*, void*);

bool is_function(const KernelSigaction& action) {
  return action.handler != reinterpret_cast<void*>(SIG_DFL) &&
         action.handler != reinterpret_cast<void*>(SIG_IGN);
}

void call(const KernelSigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.flags & SA_SIGINFO) != 0) {
    reinterpret_cast<Handler>(action.handler)(signal, info, context);
  } else {
    reinterpret_cast<void (*)(int)>(action.handler)(signal);
  }
}

void on_sampling_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &g_calibrations) {
    g_calibrations.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  g_in_flight.fetch_add(1); // before the sampler is looked up: see wait_for_handlers
  Sampler* sampler = g_sampler.load();
  bool foreign = true;
  if (sampler != nullptr) {
    if (ThreadEntry* entry = sender_of(*sampler, *info); entry != nullptr) {
      foreign = false;
      take_sample(*sampler, *entry, *info, context);
    } else if (os::process_id() == sampler->pid) { // a forked child has no region
      count(*sampler, wire::Counter::kEntered);
      count(*sampler, wire::Counter::kOutcomeForeign);
    }
  }
  g_in_flight.fetch_sub(1);
  // Outside the count: a foreign handler may never return.
  if (foreign && is_function(g_sampling.action)) {
    call(g_sampling.action, signal, info, context);
  }
}

// True if the fault lies in AsyncGetCallTrace: the handler that called it goes on without a stack.
// Only this thread's own call counts: the stack of another may lie close by.
bool resume_call_trace(void* context) {
  const Sampler* sampler = g_guarded.load();
  if (sampler == nullptr || sampler->call_trace == nullptr) {
    return false;
  }
  const std::int32_t tid = os::thread_id();
  for (std::uint32_t i = 0; i < sampler->scratch_count; ++i) {
    const Scratch& scratch = sampler->scratch[i];
    const std::uint64_t sp = load_relaxed(scratch.guarded_sp);
    if (sp != 0 && load_relaxed(scratch.tid) == tid) {
      return arch::resume_guarded_call(context, sp);
    }
  }
  return false;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (arch::resume_failed_load(context) || resume_call_trace(context)) {
    if (Sampler* sampler = g_sampler.load(); sampler != nullptr) {
      count(*sampler, wire::Counter::kFaults);
    }
    return;
  }
  const Replaced& before = g_faults[signal == SIGBUS ? 1 : 0];
  if (is_function(before.action)) {
    call(before.action, signal, info, context);
    return;
  }
  // Nobody handled it before us: let it happen again, with what would have happened then.
  os::signal_action(signal, &before.action, nullptr);
}

bool is_installed(const Replaced& replaced, void* handler) {
  KernelSigaction now;
  return replaced.installed.load() && os::signal_action(replaced.signal, nullptr, &now) == 0 &&
         now.handler == handler;
}

void* as_pointer(Handler handler) {
  return reinterpret_cast<void*>(handler);
}

KernelSigaction our_action(Handler handler, unsigned long flags, std::uint64_t mask) {
  KernelSigaction action;
  action.handler = as_pointer(handler);
  action.flags = flags;
  action.mask = mask;
  if (arch::signal_restorer() != nullptr) {
    action.flags |= kRestorerFlag;
    action.restorer = arch::signal_restorer();
  }
  return action;
}

bool install_fault_handler(Replaced& replaced, int signal) {
  if (is_installed(replaced, as_pointer(on_fault))) {
    return true; // somebody's chain kept us from restoring the last session's
  }
  replaced.signal = signal;
  if (os::signal_action(signal, nullptr, &replaced.action) != 0) {
    return false;
  }
  // The same mask and flags as the handler behind us expects, except that a second fault inside our
  // handler must not be blocked: a blocked fault kills the process.
  const unsigned long kept = replaced.action.flags & (SA_ONSTACK | SA_NODEFER);
  const std::uint64_t mask = is_function(replaced.action) ? replaced.action.mask : std::uint64_t{0};
  const KernelSigaction action =
      our_action(on_fault, kept | SA_ONSTACK | SA_SIGINFO | SA_RESTART, mask);
  replaced.installed.store(os::signal_action(signal, &action, nullptr) == 0);
  return replaced.installed.load();
}

void restore(Replaced& replaced, void* handler) {
  if (is_installed(replaced, handler)) {
    os::signal_action(replaced.signal, &replaced.action, nullptr);
    replaced.installed.store(false);
  }
}

} // namespace

int free_signal() {
  // The C libraries keep the lowest real-time signals, others begin to take theirs at SIGRTMIN; 62
  // is the JDK's, which takes it when it loads its libnet or libnio.
  constexpr int kRealTime[] = {64, 63, 61, 60, 59, 58, 57, 56};
  KernelSigaction now;
  if (os::signal_action(SIGPROF, nullptr, &now) == 0 && !is_function(now)) {
    return SIGPROF;
  }
  for (const int signal : kRealTime) {
    if (os::signal_action(signal, nullptr, &now) == 0 &&
        now.handler == reinterpret_cast<void*>(SIG_DFL)) {
      return signal;
    }
  }
  return SIGPROF;
}

InstallError install_handlers(int signal, std::uint64_t* taken_by) {
  KernelSigaction before;
  if (os::signal_action(signal, nullptr, &before) != 0) {
    return InstallError::kRefused;
  }
  if (is_function(before)) {
    *taken_by = reinterpret_cast<std::uint64_t>(before.handler);
    return InstallError::kSignalTaken;
  }
  if (!install_fault_handler(g_faults[0], SIGSEGV) || !install_fault_handler(g_faults[1], SIGBUS)) {
    restore_handlers();
    return InstallError::kRefused;
  }
  g_sampling.signal = signal;
  g_sampling.action = before;
  const KernelSigaction action =
      our_action(on_sampling_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK, 0);
  if (os::signal_action(signal, &action, nullptr) != 0) {
    restore_handlers();
    return InstallError::kRefused;
  }
  g_sampling.installed.store(true);
  return InstallError::kNone;
}

void* calibration_mark() {
  return &g_calibrations;
}

std::uint32_t calibration_signals() {
  return g_calibrations.load(std::memory_order_relaxed);
}

void publish(Sampler* sampler) {
  g_guarded.store(sampler);
  g_sampler.store(sampler);
}

void withdraw() {
  g_sampler.store(nullptr);
}

bool handler_is_ours() {
  return is_installed(g_sampling, as_pointer(on_sampling_signal));
}

void ignore_signal() {
  if (handler_is_ours()) {
    KernelSigaction ignore;
    ignore.handler = reinterpret_cast<void*>(SIG_IGN);
    os::signal_action(g_sampling.signal, &ignore, nullptr);
  }
}

std::uint32_t wait_for_handlers(std::uint64_t timeout_ns) {
  // A handler that was counted in before withdraw() may still use the sampler; one that comes later
  // sees none. Both sides use sequentially consistent operations.
  const std::uint64_t deadline = os::clock_ns(CLOCK_MONOTONIC) + timeout_ns;
  while (g_in_flight.load() != 0) {
    if (os::clock_ns(CLOCK_MONOTONIC) >= deadline) {
      return g_in_flight.load();
    }
    os::sleep_ns(1'000'000);
  }
  return 0;
}

void restore_handlers() {
  g_guarded.store(nullptr);
  KernelSigaction now;
  const bool ignored = g_sampling.installed.load() &&
                       os::signal_action(g_sampling.signal, nullptr, &now) == 0 &&
                       now.handler == reinterpret_cast<void*>(SIG_IGN);
  if (ignored) {
    os::signal_action(g_sampling.signal, &g_sampling.action, nullptr);
    g_sampling.installed.store(false);
  } else {
    restore(g_sampling, as_pointer(on_sampling_signal));
  }
  restore(g_faults[0], as_pointer(on_fault));
  restore(g_faults[1], as_pointer(on_fault));
}

} // namespace jprof::agent::sampling
