// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace jprof::base {

// Bytes of the operating system's generator. Fails only where the system has none.
Status random_bytes(std::span<std::byte> out);
// `characters` of lower-case RFC 4648 base32 ([a-z2-7]): safe in file, socket and container names.
Result<std::string> random_base32(std::size_t characters);

} // namespace jprof::base
