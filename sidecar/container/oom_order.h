// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"

#include <optional>

namespace jprof::container {

// Whom the kernel ends where memory runs out (oom_score_adj of proc(5), -1000 to 1000): the process
// with the highest sum of this, in thousandths of what there is, and of what it holds.
inline constexpr int kFirstToDie = 1000;

// Asks to be ended before anybody else; children inherit it. Everybody may ask for that, but not
// every process can write it: the file of one that may not be read by its own user belongs to root.
// So it is to be called before a process closes itself (PR_SET_DUMPABLE). False where it could not
// be: what kubelet has given it stays then.
bool be_first_to_die();

// Of this process, and of another; nothing where it cannot be read.
std::optional<int> own_oom_order();
std::optional<int> oom_order_of(const Process& process);

} // namespace jprof::container
