// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::config {

// "64KiB", "200MiB", "1GiB", "512B", and as Kubernetes writes it "200Mi"; a bare number is refused
// with the units named.
base::Result<std::uint64_t> parse_byte_size(std::string_view text);
// The largest unit that is exact: "200MiB".
std::string format_byte_size(std::uint64_t bytes);

} // namespace jprof::config
