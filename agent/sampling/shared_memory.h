// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Atomic access to integers in the recording region, which is plain memory to everyone else.
// Lock-free on every CPU that we support, and so signal-safe.

#include <atomic>
#include <cstdint>

namespace jprof::agent::sampling {

template <typename T>
std::atomic_ref<T> shared(T& value) {
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  return std::atomic_ref<T>(value);
}

template <typename T>
T load_acquire(T& value) {
  return shared(value).load(std::memory_order_acquire);
}
template <typename T>
T load_relaxed(T& value) {
  return shared(value).load(std::memory_order_relaxed);
}
template <typename T>
void store_release(T& target, T value) {
  shared(target).store(value, std::memory_order_release);
}
template <typename T>
void store_relaxed(T& target, T value) {
  shared(target).store(value, std::memory_order_relaxed);
}
template <typename T>
void add(T& target, T value) {
  shared(target).fetch_add(value, std::memory_order_relaxed);
}
template <typename T>
void raise_to(T& target, T value) {
  T seen = load_relaxed(target);
  while (seen < value && !shared(target).compare_exchange_weak(seen, value)) {
  }
}

} // namespace jprof::agent::sampling
