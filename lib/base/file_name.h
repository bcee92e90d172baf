// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace jprof::base {

// A name from elsewhere that is safe to create in a directory of ours: [A-Za-z0-9._-], not
// beginning with a dot, at most 128 bytes.
inline bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

} // namespace jprof::base
