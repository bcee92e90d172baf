// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/forecast.h"

#include "lib/base/mebibytes.h"
#include "sidecar/serve/admission.h"
#include "sidecar/serve/capture_locks.h"
#include "sidecar/serve/limits_watch.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace jprof::serve {
namespace {

using checks::CheckId;

checks::Check check_room(const ServeContext& context) {
  if (context.broken) {
    return checks::fail(CheckId::kRoom, *context.broken);
  }
  const config::SidecarLimits& limits = context.config.limits;
  if (const base::Status allowed = check_allowed(context.config, "record"); !allowed) {
    return checks::fail(CheckId::kRoom, allowed.error());
  }
  const base::Status said = context.spool.foretell(
      {.bytes = limits.capture_bytes, .captures_per_hour = limits.captures_per_hour},
      std::chrono::system_clock::now());
  if (!said) {
    return checks::fail(CheckId::kRoom, said.error());
  }
  return checks::pass(CheckId::kRoom, "the spool has room for " +
                                          base::mebibytes(limits.capture_bytes) +
                                          " more, and the hourly limit allows another capture");
}

checks::Check check_limits(const ServeContext& context) {
  if (context.limits_changed.empty()) {
    return checks::pass(CheckId::kLimits, "its limits are as they were at its start");
  }
  return checks::warn(CheckId::kLimits, context.limits_changed, kLimitsCure);
}

} // namespace

checks::Check check_free(const ServeContext& context, const jvm::Target& target) {
  // In the order in which a capture checks them.
  spool::LockHolder holder;
  const std::uint64_t most = std::max<std::uint64_t>(1, context.config.limits.concurrent_captures);
  std::uint64_t taken = 0;
  for (std::uint64_t slot = 0; slot < most; ++slot) {
    if (spool::FileLock::is_held(slot_lock(context.spool, slot), &holder)) {
      ++taken;
    }
  }
  if (taken == most) {
    return checks::fail(CheckId::kFree, busy_error(slots_taken(most), holder).error);
  }
  if (spool::FileLock::is_held(jvm_lock(context.spool, target), &holder)) {
    return checks::fail(CheckId::kFree, busy_error(jvm_taken(target), holder).error);
  }
  return checks::pass(CheckId::kFree, taken == 0 ? "nothing is being recorded"
                                                 : "other JVMs are being profiled, and there is "
                                                   "room for one more");
}

std::vector<checks::Check> check_serve(const ServeContext& context) {
  return {check_room(context), check_limits(context)};
}

} // namespace jprof::serve
