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

// The names in it, sorted, without "." and ".."; of a directory that somebody else fills, at most
// so many of them are looked at. Several processes and threads may list the same descriptor: it is
// not moved.
Result<std::vector<std::string>> names_in(int directory, std::size_t most = SIZE_MAX);
Result<std::vector<std::string>> names_in(const std::string& path, std::size_t most = SIZE_MAX);

} // namespace jprof::base
