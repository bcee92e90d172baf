// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string_view>

namespace jprof::render {

bool looks_like_speedscope(std::string_view text);

// speedscope's JSON (https://www.speedscope.app/file-format-schema.json): its sampled and evented
// profiles become threads of one profile. Times are kept for profiles in units of time. At most 1
// GiB. kInvalidData for input that does not follow the schema.
base::Result<profile::Profile> read_speedscope(std::string_view text, std::string_view title);

} // namespace jprof::render
