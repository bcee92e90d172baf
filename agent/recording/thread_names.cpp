// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// How ThreadTable finds out what threads are called.
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/recording/thread_change.h"
#include "agent/recording/thread_table.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent::recording {
namespace {

using sampling::ThreadEntry;
using wire::ThreadFlag;

constexpr std::uint32_t kMaxNameTries = 100; // one every 20 ms, then with the CPU times
constexpr unsigned kLastNameTries = 10;
// Reading the kernel's name costs some 8 us (the system calls of three files). In a flood of
// threads only this many names are read per second, the others once their threads have lived for a
// while or are sampled.
constexpr std::uint32_t kNamesPerSecond = 100;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

} // namespace

bool ThreadTable::may_name(std::uint64_t now) {
  if (now >= naming_second_ends_ns_) {
    naming_second_ends_ns_ = now + kSecondNs;
    names_left_ = kNamesPerSecond;
  }
  if (names_left_ == 0) {
    return false;
  }
  --names_left_;
  return true;
}

void ThreadTable::name_first() {
  seccomp_known_ = os::read_seccomp(os::thread_id(), &seccomp_);
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    if (sampler_->threads[slot].tid != 0) {
      look_for_sandbox_before_loads(slot);
      name_by_kernel(slot);
    }
  }
}

void ThreadTable::name_by_kernel(std::uint32_t slot) {
  char name[16];
  const std::size_t bytes = os::thread_name(sampler_->threads[slot].tid, name, sizeof name);
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.name_bytes = static_cast<std::uint16_t>(bytes);
    os::copy_bytes(record.name, name, bytes);
  });
}

void ThreadTable::name_new_threads() {
  if (sampler_->names_wanted.exchange(0, std::memory_order_relaxed) == 0) {
    return;
  }
  for (std::uint32_t slot = 0; slot < used_; ++slot) {
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && sampling::load_relaxed(entry.java_thread) != entry.named_after) {
      name(slot);
    }
  }
}

void ThreadTable::name_last_threads() {
  for (std::uint32_t slot = 0; slot < used_; ++slot) { // one may have been renamed since
    ThreadEntry& entry = sampler_->threads[slot];
    if (entry.tid != 0 && sampling::load_relaxed(entry.java_thread) != 0) {
      name(slot);
    }
  }
  for (unsigned i = 0; i < kLastNameTries; ++i) {
    name_new_threads();
    if (sampler_->names_wanted.load(std::memory_order_relaxed) == 0) {
      return;
    }
    os::sleep_ns(1'000'000);
  }
}

// Uses the Java thread's own name if it can be read, else the kernel's.
void ThreadTable::name(std::uint32_t slot) {
  if (!objects_opened_) { // not before the first timers are armed, since it takes a millisecond
    objects_opened_ = true;
    objects_known_ = objects_.open(sampler_->vm);
  }
  ThreadEntry& entry = sampler_->threads[slot];
  const std::uint64_t java_thread = sampling::load_relaxed(entry.java_thread);
  char kernel_name[16];
  std::size_t kernel_bytes = 0;
  if (objects_known_ && objects_.needs_kernel_name()) {
    kernel_bytes = os::thread_name(entry.tid, kernel_name, sizeof kernel_name);
  }
  jvm::ThreadIdentity identity;
  const bool known =
      objects_known_ && objects_.read(java_thread, entry.tid, kernel_name, kernel_bytes, &identity);
  if (!known && kernel_bytes == 0) {
    kernel_bytes = os::thread_name(entry.tid, kernel_name, sizeof kernel_name);
  }
  const char* text = known ? identity.name : kernel_name;
  const std::size_t bytes = known ? identity.name_bytes : kernel_bytes;
  const auto& now = tables_.thread_slots[slot];
  const bool was_known = now.java_id != 0 && entry.named_after == java_thread;
  if (known) {
    entry.named_after = java_thread;
    entry.name_tries = 0;
  } else if (objects_known_ && entry.named_after != java_thread &&
             ++entry.name_tries < kMaxNameTries) {
    sampler_->names_wanted.store(1, std::memory_order_relaxed);
  }
  if (!known && (was_known || bytes == 0)) {
    return; // what was read before is better
  }
  const bool is_java = (now.flags & flag(ThreadFlag::kJava)) != 0;
  if (is_java && now.name_bytes == bytes && __builtin_memcmp(now.name, text, bytes) == 0 &&
      (!known || now.java_id == identity.java_id)) {
    return;
  }
  change(tables_.thread_slots[slot], [&](wire::ThreadSlot& record) {
    record.flags = static_cast<std::uint16_t>(record.flags | flag(ThreadFlag::kJava));
    record.java_id = known ? identity.java_id : 0;
    record.name_bytes = static_cast<std::uint16_t>(bytes);
    os::copy_bytes(record.name, text, bytes);
  });
}

} // namespace jprof::agent::recording
