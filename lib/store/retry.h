// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace jprof::store {

using base::Result;
using base::Status;

// A bucket of tokens that all uploads of a process share: each retry takes some, each success puts
// some back, so that an outage does not multiply the load. Thread-safe.
class RetryQuota {
 public:
  explicit RetryQuota(std::int64_t tokens = 500) : tokens_(tokens), max_(tokens) {}
  bool take(std::int64_t cost);
  void give_back(std::int64_t amount);

 private:
  std::atomic<std::int64_t> tokens_;
  std::int64_t max_;
};

// How one request is repeated: full jitter (a uniform draw from 0 to the doubled base), so that
// many sidecars do not come back in waves.
struct RetryPolicy {
  int attempts = 5; // in all, at least 1
  std::chrono::milliseconds base_delay{500};
  std::chrono::milliseconds max_delay{60000};
  // A server's Retry-After is obeyed up to this; beyond it the request fails at once, and the
  // caller comes back later.
  std::chrono::milliseconds max_retry_after{60000};
  std::shared_ptr<RetryQuota> quota; // shared by all stores of a process; nullptr: no quota
  // Waits until the time is over or the token asks to stop. Empty: for real; tests have their own.
  std::function<void(std::chrono::milliseconds, std::stop_token)> sleep;
};

// The state of one request's repetitions. One thread.
class Retrier {
 public:
  Retrier(const RetryPolicy& policy, std::stop_token stop)
      : policy_(policy), stop_(std::move(stop)) {}

  // Waits and returns true if another attempt is due; false: report the failure. `retry_after` is
  // what the server asked for.
  bool wait_for_next(std::optional<std::chrono::seconds> retry_after);
  // Call it once when the request has succeeded.
  void succeeded();

  int attempts_made() const { return attempt_; }

 private:
  std::chrono::milliseconds jittered() const;

  RetryPolicy policy_;
  std::stop_token stop_;
  int attempt_ = 1;
};

} // namespace jprof::store
