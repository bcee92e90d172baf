// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"

#include <limits>

namespace jprof::base {
namespace {

// Depth is checked before parsing: nlohmann's parser recurses only in its destructor, but a deep
// document costs memory out of proportion.
bool within_depth(std::string_view text, int limit) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > limit) {
        return false;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

const Json* find_member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}

} // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return make_failure(ErrorCode::kLimit,
                        "JSON text is larger than " + std::to_string(limits.bytes) + " bytes");
  }
  if (!within_depth(text, limits.depth)) {
    return make_failure(ErrorCode::kLimit,
                        "JSON text is nested deeper than " + std::to_string(limits.depth));
  }
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    return make_failure(ErrorCode::kInvalidData, "not valid JSON");
  }
  return value;
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_string(const Json& object, std::string_view key, std::string_view fallback) {
  const Json* member = find_member(object, key);
  return member != nullptr && member->is_string() ? member->get<std::string>()
                                                  : std::string(fallback);
}

std::int64_t json_int(const Json& object, std::string_view key, std::int64_t fallback) {
  const Json* member = find_member(object, key);
  if (member == nullptr || !member->is_number()) {
    return fallback;
  }
  if (member->is_number_unsigned()) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(member->get<std::uint64_t>(), kMost));
  }
  if (member->is_number_integer()) {
    return member->get<std::int64_t>();
  }
  const double value = member->get<double>();
  return value > -9e18 && value < 9e18 ? static_cast<std::int64_t>(value) : fallback;
}

bool json_bool(const Json& object, std::string_view key, bool fallback) {
  const Json* member = find_member(object, key);
  return member != nullptr && member->is_boolean() ? member->get<bool>() : fallback;
}

const Json& json_object(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::object();
  const Json* member = find_member(object, key);
  return member != nullptr && member->is_object() ? *member : kEmpty;
}

const Json& json_array(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json* member = find_member(object, key);
  return member != nullptr && member->is_array() ? *member : kEmpty;
}

} // namespace jprof::base
