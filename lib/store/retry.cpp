// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/retry.h"

#include "lib/base/random.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>

namespace jprof::store {
namespace {

constexpr std::int64_t kRetryCost = 5;
constexpr std::int64_t kSuccessReward = 1;

void sleep_until_stopped(std::chrono::milliseconds delay, std::stop_token stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, std::move(stop), delay, [] { return false; });
}

} // namespace

bool RetryQuota::take(std::int64_t cost) {
  std::int64_t now = tokens_.load();
  while (now >= cost) {
    if (tokens_.compare_exchange_weak(now, now - cost)) {
      return true;
    }
  }
  return false;
}

void RetryQuota::give_back(std::int64_t amount) {
  std::int64_t now = tokens_.load();
  while (!tokens_.compare_exchange_weak(now, std::min(max_, now + amount))) {
  }
}

std::chrono::milliseconds Retrier::jittered() const {
  const int doublings = std::min(attempt_ - 1, 20);
  const auto most =
      std::min(policy_.max_delay, policy_.base_delay * (std::int64_t{1} << doublings));
  std::uint64_t draw = 0;
  // Without random bytes the longest wait is the safe one.
  if (!base::random_bytes(std::as_writable_bytes(std::span(&draw, 1)))) {
    return most;
  }
  const auto range = static_cast<std::uint64_t>(most.count()) + 1;
  return std::chrono::milliseconds(static_cast<std::int64_t>(draw % range));
}

bool Retrier::wait_for_next(std::optional<std::chrono::seconds> retry_after) {
  if (attempt_ >= policy_.attempts || stop_.stop_requested()) {
    return false;
  }
  if (retry_after && *retry_after > policy_.max_retry_after) {
    return false;
  }
  if (policy_.quota && !policy_.quota->take(kRetryCost)) {
    return false;
  }
  // At least what the server asked for; the jitter on top keeps the herd apart.
  const auto delay = jittered() + retry_after.value_or(std::chrono::seconds(0));
  if (policy_.sleep) {
    policy_.sleep(delay, stop_);
  } else {
    sleep_until_stopped(delay, stop_);
  }
  ++attempt_;
  return !stop_.stop_requested();
}

void Retrier::succeeded() {
  if (policy_.quota) {
    policy_.quota->give_back(attempt_ > 1 ? kRetryCost : kSuccessReward);
  }
}

} // namespace jprof::store
