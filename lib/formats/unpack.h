// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::formats {

inline constexpr std::size_t kMaxUnpackedBytes = std::size_t{1} << 30;

// What compressed the bytes, by their beginning: "gzip", "zstd", "xz", ...; empty if it is not
// known.
std::string_view packer_of(std::string_view bytes);

// The two that unpack() supports: gzip and zstd.
bool is_packed(std::string_view bytes);

// Decompresses gzip or zstd: all members or frames, one after the other. The bytes are foreign, so
// the output is bounded: more than `limit_bytes` is kLimit, and what turns out to be neither text
// nor a recording is given up at the first piece (a bomb is mostly zeros). kInvalidData for what is
// damaged, ends early or continues with something else: half a profile is not a profile.
base::Result<std::string> unpack(std::string_view bytes,
                                 std::size_t limit_bytes = kMaxUnpackedBytes);

} // namespace jprof::formats
