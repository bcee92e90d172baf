// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"

#include <optional>

namespace jprof::container {

// Which process the kernel ends when memory runs out (oom_score_adj of proc(5), -1000 to 1000): the
// one with the highest sum of this value, in thousandths of all memory, and of the memory that it
// holds.
inline constexpr int kFirstToDie = 1000;

// Asks to be ended before any other process; children inherit it. Everybody may ask for that, but
// not every process can write it: the file belongs to root if its process's own user may not read
// it. So call it before a process closes itself (PR_SET_DUMPABLE). False if it could not be set:
// the kubelet's value then stays.
bool be_first_to_die();

// Of this process, and of another; empty if it cannot be read.
std::optional<int> own_oom_order();
std::optional<int> oom_order_of(const Process& process);

} // namespace jprof::container
