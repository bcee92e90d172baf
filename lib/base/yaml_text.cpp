// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/yaml_text.h"

#include "lib/base/text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace jprof::base {
namespace {

// Words that some YAML version reads as something else than text.
constexpr std::array<std::string_view, 11> kReserved = {"null", "true", "false", "yes", "no", "on",
                                                        "off",  "y",    "n",     "nan", "inf"};

bool is_plain(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inside = [&letter](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  };
  const std::string lower = lowered(text);
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), inside) &&
         std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end();
}

std::string scalar(const Json& value) {
  if (value.is_string() && is_plain(value.get_ref<const std::string&>())) {
    return value.get_ref<const std::string&>();
  }
  return dump_json(value); // empty lists and maps too
}

bool is_block(const Json& value) {
  return value.is_structured() && !value.empty();
}

void write(const Json& value, std::size_t indent, std::string& out);

// What follows "key:" or "-".
void write_member(const Json& value, std::size_t indent, std::string& out) {
  if (!is_block(value)) {
    out += " " + scalar(value) + "\n";
    return;
  }
  out += "\n";
  write(value, indent, out);
}

void write(const Json& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (!is_block(value)) {
    out += margin + scalar(value) + "\n";
  } else if (value.is_array()) {
    for (const Json& element : value) {
      out += margin + "-";
      write_member(element, indent + 2, out);
    }
  } else {
    for (const auto& [key, member] : value.items()) {
      out += margin + scalar(Json(key)) + ":";
      write_member(member, indent + 2, out);
    }
  }
}

} // namespace

std::string to_yaml(const Json& value) {
  std::string out;
  write(value, 0, out);
  return out;
}

} // namespace jprof::base
