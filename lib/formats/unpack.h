// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::formats {

inline constexpr std::size_t kLargestUnpacked = std::size_t{1} << 30;

// What packed the bytes, by their beginning: "gzip", "zstd", "xz", ...; empty if nothing known did.
std::string_view packer_of(std::string_view bytes);

// The two of these that unpack() knows: gzip and zstd.
bool is_packed(std::string_view bytes);

// What gzip or zstd packed: all members or frames, one after the other. The bytes are foreign, so
// the output is bounded: more than `limit_bytes` is kLimit, and what turns out to be neither text
// nor a recording is given up at the first piece (a bomb is mostly of zeros). kInvalidData for what
// is damaged, ends early or goes on with something else: half of a profile is none.
base::Result<std::string> unpack(std::string_view bytes,
                                 std::size_t limit_bytes = kLargestUnpacked);

} // namespace jprof::formats
