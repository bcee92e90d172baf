// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string>
#include <string_view>

namespace jprof::render {

enum class ThreadRoots {
  kNone,
  kThread, // a root frame for each name of a thread
  kPool,   // ... for each pool: see pool_name()
};

// The same profile with the thread of each sample as its root frame, `[name]` of kind kThread, so
// that every format shows it. Threads with the same name share a frame. A profile without threads
// (has_threads is false) stays as with kNone.
profile::Profile with_thread_roots(const profile::Profile& profile, ThreadRoots roots);

// The name of the pool that a thread belongs to by its name: the number at the end becomes `*`
// ("exec-12", "GC Thread#3", "CompilerThread0"). A number that is part of a word stays: one after
// fewer than three letters ("C1", "G1"), and one that is the whole name.
std::string pool_name(std::string_view thread);

} // namespace jprof::render
