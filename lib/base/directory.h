// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What is in a directory. Thread-safe.
namespace jprof::base {

// Its names, sorted, without "." and ".."; if somebody else fills the directory, at most this many
// of them are examined. Several processes and threads may list the same descriptor: its position
// does not change.
Result<std::vector<std::string>> names_in(int directory, std::size_t most = SIZE_MAX);
Result<std::vector<std::string>> names_in(const std::string& path, std::size_t most = SIZE_MAX);

} // namespace jprof::base
