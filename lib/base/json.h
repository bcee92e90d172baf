// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::base {

// Objects keep the order in which we wrote them: what people read should not be alphabetical.
using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t bytes = 4 * 1024 * 1024;
  int depth = 64;
};

// Parses foreign text: never throws, refuses what is larger or deeper than the limits (kLimit) and
// what is not JSON (kInvalidData).
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});
// Never throws: invalid UTF-8 in strings is replaced. indent < 0 is one line.
std::string dump_json(const Json& value, int indent = -1);

// Typed members of foreign objects: if a member is absent or has another type, the fallback. Large
// numbers are clamped, never wrapped.
std::string json_string(const Json& object, std::string_view key, std::string_view fallback = {});
std::int64_t json_int(const Json& object, std::string_view key, std::int64_t fallback = 0);
bool json_bool(const Json& object, std::string_view key, bool fallback = false);
// The member if it exists and is an object or array, otherwise an empty value of that kind.
const Json& json_object(const Json& object, std::string_view key);
const Json& json_array(const Json& object, std::string_view key);

} // namespace jprof::base
