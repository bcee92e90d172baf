// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/log/log.h"

#include <exception>
#include <new>
#include <string>

namespace jprof::serve {

// The exit code of a process that reached its memory limit.
inline constexpr int kNoMemoryLeft = 71;

// For the body of a forked child: our code does not throw, but the allocator does when the child
// reaches its memory limit, and an exception must not unwind into what belongs to the parent.
template <typename Work>
int guarded(const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    log::error("a process gives up: it has used all the memory that its limit allows");
    return kNoMemoryLeft;
  } catch (const std::exception& e) {
    constexpr int kBug = 70;
    log::error(std::string("a process gives up: ") + e.what());
    return kBug;
  }
}

} // namespace jprof::serve
