// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::kube {

// A Kubernetes quantity as bytes: "33Mi", "1.5Gi", "129M", "128974848", "1e6", "500m" (which is
// half a byte). Rounded down; nothing if it is not one, is negative or does not fit into 63 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// As people read it: "33 MiB".
std::string mebibytes(std::uint64_t bytes);

} // namespace jprof::kube
