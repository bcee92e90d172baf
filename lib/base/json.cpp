// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"

#include "lib/base/hidden_text.h"
#include "lib/base/utf8.h"

#include <cstdio>
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

void append_escape(std::string& out, char32_t unit) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(unit & 0xffff));
  out += text;
}

// What a terminal obeys or what hides (hidden_text.h) becomes \u: what is printed may hold names of
// a hostile JVM. Of JSON text what is not ASCII stands in strings only, so an escape means the
// same.
std::string with_hidden_escaped(std::string text) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x7f) {
      ++at; // the library has escaped the controls among these
      continue;
    }
    const Utf8Char c = decode_utf8(std::string_view(text).substr(at));
    if (is_hidden(c.value)) {
      out.append(text, copied, at - copied);
      if (c.value > 0xffff) {
        append_escape(out, 0xd800 + ((c.value - 0x10000) >> 10));
        append_escape(out, 0xdc00 + ((c.value - 0x10000) & 0x3ff));
      } else {
        append_escape(out, c.value);
      }
      copied = at + c.length;
    }
    at += c.length;
  }
  if (copied == 0) {
    return text;
  }
  return out.append(text, copied);
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
  return with_hidden_escaped(value.dump(indent, ' ', false, Json::error_handler_t::replace));
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
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(member->get<std::uint64_t>(), kMax));
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
