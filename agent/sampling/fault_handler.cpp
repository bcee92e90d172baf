// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/fault_handler.h"

#include "agent/arch/arch.h"
#include "agent/sampling/signal_handler.h"

#include <atomic>

namespace jprof::agent::sampling {
namespace {

using os::KernelSigaction;

// How many different actions may be replaced in the life of a JVM: its own, and one for each
// profiler or crash reporter that installs itself.
constexpr std::uint32_t kMaxLinks = 8;
constexpr unsigned kMaxTries = 3;

// An action that ours replaced. Kept for good, because somebody may have saved our entry point
// since.
struct Link {
  KernelSigaction before;
  std::atomic<bool> used{false};
};
struct Chain {
  int signal;
  Link links[kMaxLinks]; // the first one is what was there before us
};
Chain g_chains[2] = {{.signal = SIGSEGV, .links = {}}, {.signal = SIGBUS, .links = {}}};
bool g_wanted = false; // a session has them installed
std::atomic<Sampler*> g_guarded{nullptr};
// HotSpot's entry for programs that chain to it (signal chaining, "jvm.h" of 8 to 25).
std::atomic<int (*)(int, siginfo_t*, void*, int)> g_jvm_handler{nullptr};

Chain& chain_of(int signal) {
  return g_chains[signal == SIGBUS ? 1 : 0];
}

// Is on the stack while an entry point passes a fault on, so that the entry point recognises the
// same fault if the next handler passes it back.
struct PassingOn {
  volatile std::uint64_t mark;
  volatile std::uint64_t context;
};
constexpr std::uint64_t kPassingOn = 0x6a70726f66a55a6aULL;
constexpr std::uint64_t kMaxStackBytes = 64UL * 1024; // of all handlers of a fault together

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

std::uint64_t mark_of(std::uint64_t address, std::uint32_t link) {
  return (kPassingOn + link) ^ address;
}

// How often this entry point has already passed this fault on: its calls that are still active,
// between here and where the kernel has put the fault's context.
std::uint32_t times_passed_on(const PassingOn* here, std::uint32_t link, const void* context) {
  const std::uint64_t end = address_of(context);
  std::uint64_t at = address_of(here) + sizeof(PassingOn);
  if (end < at || end - at > kMaxStackBytes) {
    return 0;
  }
  std::uint32_t times = 0;
  for (; at + sizeof(PassingOn) <= end; at += sizeof(std::uint64_t)) {
    const auto* there = reinterpret_cast<const PassingOn*>(at);
    if (there->mark == mark_of(at, link) && there->context == end) {
      ++times;
    }
  }
  return times;
}

// True if the fault is in AsyncGetCallTrace: the handler that called it continues without a stack.
// Only this thread's own call counts, because another thread's stack may be close by.
bool resume_call_trace(const Sampler* sampler, void* context) {
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

// What comes after the entry `link` for a fault that it has already passed on this often. A handler
// that saved two of our entry points, one after the other, knows only the later one and would get
// back whatever it passes to that, for ever, and with it the JVM's thread that met a null pointer.
const KernelSigaction* next_action(const Chain& chain, std::uint32_t link, std::uint32_t times) {
  const KernelSigaction& next = chain.links[link].before;
  if (times == 0) {
    return &next;
  }
  const KernelSigaction& first = chain.links[0].before;
  return times == 1 && first.handler != next.handler ? &first : nullptr;
}

// `noinline`: the mark must be above the frames of the handlers that are called.
[[gnu::noinline]] void pass_on(std::uint32_t link, int signal, siginfo_t* info, void* context) {
  PassingOn here;
  const Chain& chain = chain_of(signal);
  const KernelSigaction* next = next_action(chain, link, times_passed_on(&here, link, context));
  here.context = address_of(context);
  here.mark = mark_of(address_of(&here), link);
  if (next != nullptr && is_function(*next)) {
    call(*next, signal, info, context);
  } else if (const auto jvm = g_jvm_handler.load(); next == nullptr && jvm != nullptr) {
    constexpr int kAbortIfUnknown = 1;
    jvm(signal, info, context, kAbortIfUnknown);
  } else {
    // Nobody handled it before us: let it happen again, with the action that was set then.
    const KernelSigaction none;
    os::signal_action(signal, next != nullptr ? next : &none, nullptr);
  }
  here.mark = 0;
}

void on_fault_at(std::uint32_t link, int signal, siginfo_t* info, void* context) {
  Sampler* sampler = g_guarded.load();
  if (arch::resume_failed_load(context) || resume_call_trace(sampler, context)) {
    if (sampler != nullptr) {
      count(*sampler, wire::Counter::kFaults);
    }
    return;
  }
  pass_on(link, signal, info, context);
}

template <std::uint32_t kLink>
void on_fault(int signal, siginfo_t* info, void* context) {
  on_fault_at(kLink, signal, info, context);
}
constexpr SignalHandler kEntries[kMaxLinks] = {on_fault<0>, on_fault<1>, on_fault<2>, on_fault<3>,
                                               on_fault<4>, on_fault<5>, on_fault<6>, on_fault<7>};

// Which of our entry points this is; kMaxLinks if it is not one of ours.
std::uint32_t link_of(const KernelSigaction& action) {
  std::uint32_t link = 0;
  while (link < kMaxLinks && action.handler != as_pointer(kEntries[link])) {
    ++link;
  }
  return link;
}

bool equal(const KernelSigaction& left, const KernelSigaction& right) {
  return left.handler == right.handler && left.flags == right.flags &&
         left.restorer == right.restorer && left.mask == right.mask;
}

// The entry point that comes before this action, a new one if the action has never been replaced;
// kMaxLinks if there is none left.
std::uint32_t link_before(Chain& chain, const KernelSigaction& action) {
  for (std::uint32_t link = 0; link < kMaxLinks; ++link) {
    if (!chain.links[link].used.load()) {
      chain.links[link].before = action;
      chain.links[link].used.store(true);
      return link;
    }
    if (equal(chain.links[link].before, action)) {
      return link;
    }
  }
  return kMaxLinks;
}

bool install(Chain& chain) {
  KernelSigaction now;
  if (os::signal_action(chain.signal, nullptr, &now) != 0) {
    return false;
  }
  for (unsigned tries = 0; tries < kMaxTries; ++tries) {
    if (link_of(now) != kMaxLinks) {
      return true; // whoever came in between has restored it
    }
    const std::uint32_t link = link_before(chain, now);
    if (link == kMaxLinks) {
      return false;
    }
    // Use the mask and flags that the next handler expects, above all the stack that it runs on: a
    // crash report needs more than the alternate stacks that libraries give to threads.
    const unsigned long kept = now.flags & (SA_ONSTACK | SA_NODEFER);
    const KernelSigaction ours = make_action(kEntries[link], kept | SA_SIGINFO | SA_RESTART,
                                             is_function(now) ? now.mask : std::uint64_t{0});
    KernelSigaction replaced;
    if (os::signal_action(chain.signal, &ours, &replaced) != 0) {
      return false;
    }
    if (equal(replaced, now)) {
      return true;
    }
    os::signal_action(chain.signal, &replaced, nullptr); // somebody else has just replaced it
    now = replaced;
  }
  return false;
}

} // namespace

void know_jvm_handler(void* function) {
  g_jvm_handler.store(reinterpret_cast<int (*)(int, siginfo_t*, void*, int)>(function));
}

bool install_fault_handlers() {
  g_wanted = true;
  if (!install(g_chains[0]) || !install(g_chains[1])) {
    restore_fault_handlers();
    return false;
  }
  return true;
}

void keep_fault_handlers() {
  for (Chain& chain : g_chains) {
    if (!g_wanted) {
      return;
    }
    KernelSigaction now;
    if (os::signal_action(chain.signal, nullptr, &now) != 0 || link_of(now) != kMaxLinks) {
      continue;
    }
    for (const Link& link : chain.links) {
      if (link.used.load() && equal(link.before, now)) {
        install(chain);
        break;
      }
    }
  }
}

void restore_fault_handlers() {
  g_wanted = false;
  for (const Chain& chain : g_chains) {
    KernelSigaction now;
    const bool known = os::signal_action(chain.signal, nullptr, &now) == 0;
    if (const std::uint32_t link = known ? link_of(now) : kMaxLinks; link != kMaxLinks) {
      os::signal_action(chain.signal, &chain.links[link].before, nullptr);
    }
  }
}

void guard(Sampler* sampler) {
  g_guarded.store(sampler);
}

} // namespace jprof::agent::sampling
