// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string>
#include <string_view>

// ProfileInfo as the payload of an info chunk.
namespace jprof::profile {

std::string encode_info(const ProfileInfo& info);
// Unknown fields are skipped; false if the bytes are invalid (`out` then holds what came before).
// All text in `out` is valid UTF-8, and it has at least one event.
bool decode_info(std::string_view bytes, ProfileInfo& out);

} // namespace jprof::profile
