// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/config/yaml_reader.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::config {

// Reads one YAML map strictly: take every key you know, then finish(), which refuses what is left
// and what was there twice. The first failure is kept, later calls do nothing, so only finish() has
// to be checked. A key that is absent leaves the variable as it was. Errors are kConfigInvalid and
// begin with "FILE line N: ".
class MapReader {
 public:
  // `path` is the map's name in messages ("spool"); empty for the document itself.
  MapReader(const YamlNode& node, std::string file, std::string path);

  void text(std::string_view key, std::string& out);
  void boolean(std::string_view key, bool& out);
  void duration(std::string_view key, std::chrono::nanoseconds& out);
  void bytes(std::string_view key, std::uint64_t& out);
  void natural(std::string_view key, std::uint64_t& out); // 0 to 2^63 - 1
  void texts(std::string_view key, std::vector<std::string>& out);
  // One of `words`, as its index.
  void word(std::string_view key, std::span<const std::string_view> words, std::size_t& out);
  // The map under a key; nothing if it is absent or null. Call finish() on its reader.
  std::optional<MapReader> map(std::string_view key);
  // A failure found by the caller, at the line of `key`.
  void refuse(std::string_view key, const std::string& why);

  base::Status finish();

 private:
  const YamlNode* take(std::string_view key, YamlNode::Kind kind, std::string_view what);
  void fail_at(int line, const std::string& message);
  std::string full_name(std::string_view key) const;

  const YamlNode* node_;
  std::string file_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
  std::optional<base::Error> error_;
};

} // namespace jprof::config
