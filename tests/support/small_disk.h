// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace jprof::testing {

// Runs `work` in a forked child for which a new file system of so many bytes lies over `directory`;
// its result is the child's exit code. Nothing where this user may not mount.
std::optional<int> run_on_small_disk(const std::string& directory, std::uint64_t bytes,
                                     const std::function<int()>& work);

} // namespace jprof::testing
