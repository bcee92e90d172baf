// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/capture_locks.h"

#include "lib/base/counted.h"
#include "lib/base/encoding.h"

#include <utility>

namespace jprof::serve {

std::string slot_lock(const spool::Spool& spool, std::uint64_t slot) {
  return spool.lock_path("slot-" + std::to_string(slot));
}

std::string jvm_lock(const spool::Spool& spool, const jvm::Target& target) {
  return spool.lock_path("jvm-" + std::to_string(target.pid()) + "-" +
                         std::to_string(target.process.start_ticks()));
}

std::string slots_taken(std::uint64_t most) {
  return "this sidecar runs " + base::counted(most, "capture") + " already, one";
}

std::string jvm_taken(const jvm::Target& target) {
  return "the JVM with pid " + std::to_string(target.pid()) + " is being profiled";
}

protocol::ErrorMessage busy_error(std::string what, const spool::LockHolder& holder) {
  constexpr std::size_t kMaxNameLength = 200;
  if (!holder.requester.empty()) {
    what += " for " + base::printable(holder.requester, kMaxNameLength);
  }
  if (!holder.until.empty()) {
    what += " until " + base::printable(holder.until, 40);
  }
  return {base::make_error(base::ErrorCode::kBusy, what + " (capture " + holder.id + ")",
                           "try again then, or join that capture"),
          "", holder.requester, holder.id, holder.until};
}

} // namespace jprof::serve
