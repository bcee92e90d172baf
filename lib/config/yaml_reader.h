// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::config {

struct YamlMember;

// One value of a YAML (or JSON) document, with the line it stands on. A plain copyable tree:
// anchors are expanded, merge keys ("<<") applied, tags dropped. What a scalar means is the
// reader's choice.
struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  bool plain = false; // a scalar without quotes, so `true` or `12` may mean more than text
  int line = 0;       // from 1; 0 for a value that is not in the document
  std::string text;   // scalars
  std::vector<YamlNode> items;
  std::vector<YamlMember> members; // maps, in the order of the document, doubles included

  // The value of a key: where it is given twice the last, as kubectl's reader does; nullptr if
  // absent.
  const YamlNode* find(std::string_view key) const;
  // The text of a scalar member; absent, null and other kinds give the fallback.
  std::string string_at(std::string_view key, std::string_view fallback = {}) const;
  // true, yes, on and their opposites (YAML 1.1, without quotes); anything else gives nothing.
  std::optional<bool> as_bool() const;
  bool bool_at(std::string_view key, bool fallback = false) const;
};

struct YamlMember {
  std::string key;
  int line = 0;
  YamlNode value;
};

struct YamlLimits {
  std::size_t bytes = 4 * 1024 * 1024;
  std::size_t nodes = 200'000; // after anchors are expanded
  std::size_t depth = 64;
};

// Parses the first document of `text`; an empty one is null. Errors (kConfigInvalid, kLimit) start
// with "`name` line N: ". Never throws; safe on hostile text.
base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view name,
                                  const YamlLimits& limits = {});

} // namespace jprof::config
