// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/protocol/reply.h"
#include "sidecar/jvm/target.h"
#include "sidecar/spool/file_lock.h"
#include "sidecar/spool/spool.h"

#include <cstdint>
#include <string>

// What a capture takes besides its own lock (Spool::capture_lock), and what a caller is told if it
// is taken.
namespace jprof::serve {

// One of limits.concurrentCaptures.
std::string slot_lock(const spool::Spool& spool, std::uint64_t slot);
std::string jvm_lock(const spool::Spool& spool, const jvm::Target& target);

std::string slots_taken(std::uint64_t most);
std::string jvm_taken(const jvm::Target& target);
// kBusy: `what`, for which capture, until when.
protocol::ErrorMessage busy_error(std::string what, const spool::LockHolder& holder);

} // namespace jprof::serve
