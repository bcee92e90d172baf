// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the sampling signal's handler away once it can be shown that no thread is about to be
// handed a signal of ours: with the old action back, that signal would end the JVM. Until then a
// handler stays that does nothing. The session that has begun last owns the handlers; one before
// it, whose thread may still be waiting here, leaves them to it.

#include "lib/wire/control.h"

#include <atomic>
#include <cstdint>

namespace jprof::agent {

// The caller installs handlers next; whoever waited in retire_handlers() does so no more. The
// number is its own for retire_handlers().
std::uint32_t claim_handlers();

// Looks, for at most `patience_ns`, until the handlers can be taken away, and does it. `left` says
// for whose sake they are still there; no threads: nothing is there, or it is a later session's.
// REQUIRES: the session's timers are gone, and drop_pending_signals() since. May be called again.
void retire_handlers(std::uint32_t number, std::uint64_t patience_ns,
                     const std::atomic<bool>& vm_exits, wire::HandlerLeft* left);

} // namespace jprof::agent
