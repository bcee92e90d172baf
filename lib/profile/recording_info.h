// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string>
#include <string_view>

// ProfileInfo as the payload of an info chunk.
namespace jprof::profile {

std::string encode_info(const ProfileInfo& info);
// What is unknown is skipped; false if the bytes are broken (`out` then holds what came before).
// All text comes out as valid UTF-8.
bool decode_info(std::string_view bytes, ProfileInfo& out);

} // namespace jprof::profile
