// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes the sampling signal's handler once it is proved that no thread is about to receive one of
// our signals: with the old action restored, that signal would end the JVM. Until then a handler
// that does nothing stays. The session that began last owns the handlers; an earlier one, whose
// thread may still be waiting here, leaves them to it.

#include "lib/wire/control.h"

#include <atomic>
#include <cstdint>

namespace jprof::agent {

// The caller installs handlers next; a thread waiting in retire_handlers() stops waiting. Returns
// the caller's number for retire_handlers().
std::uint32_t claim_handlers();

// Looks, for at most `patience_ns`, until the handlers can be removed, and removes them. `left`
// says for which threads they are still there; no threads: nothing is there, or it is a later
// session's. REQUIRES: the session's timers are gone, and drop_pending_signals() since. May be
// called again.
void retire_handlers(std::uint32_t number, std::uint64_t patience_ns,
                     const std::atomic<bool>& vm_exits, wire::HandlerLeft* left);

} // namespace jprof::agent
