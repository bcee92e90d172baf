// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::base {

// Descriptors that a child made by fork must not hold, because others wait for their last holder to
// end: locks. A process that makes children that may outlive it closes them there. Any thread; at
// most 64 at a time, more are forgotten.
void hold_back(int fd);
// Before it is closed.
void forget_held_back(int fd);
// In a child: closes all of them. Async-signal-safe.
void close_held_back();

} // namespace jprof::base
