// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string>
#include <string_view>

namespace jprof::formats {

// Reads a profile in any format that we read; which one is told by its content, not by its name:
// recordings by their magic, the rest by their first lines. `name` is for messages and titles.
base::Result<profile::Profile> read_any(std::string_view bytes, std::string_view name);
// The same from a file, "-" being standard input. At most 4 GiB.
base::Result<profile::Profile> read_any_file(const std::string& path);
// Folded text as it stands (decimals and second counts are kept); other formats are folded.
base::Result<std::string> read_folded_file(const std::string& path);

} // namespace jprof::formats
