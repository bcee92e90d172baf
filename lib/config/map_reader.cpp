// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/map_reader.h"

#include "lib/base/duration.h"
#include "lib/config/byte_size.h"

#include <charconv>
#include <limits>
#include <utility>

namespace jprof::config {

MapReader::MapReader(const YamlNode& node, std::string file, std::string path)
    : node_(&node), file_(std::move(file)), path_(std::move(path)) {
  if (node.kind != YamlNode::Kind::kMap) {
    fail_at(node.line, (path_.empty() ? "the document" : "'" + path_ + "'") + " must be a map");
  }
}

std::string MapReader::full_name(std::string_view key) const {
  return "'" + (path_.empty() ? std::string() : path_ + ".") + std::string(key) + "'";
}

void MapReader::fail_at(int line, const std::string& message) {
  if (!error_) {
    error_ = base::make_error(base::ErrorCode::kConfigInvalid,
                              file_ + " line " + std::to_string(line) + ": " + message);
  }
}

void MapReader::refuse(std::string_view key, const std::string& why) {
  const YamlNode* value = node_->find(key);
  fail_at(value != nullptr ? value->line : node_->line, full_name(key) + " " + why);
}

const YamlNode* MapReader::take(std::string_view key, YamlNode::Kind kind, std::string_view what) {
  known_.emplace(key);
  const YamlNode* value = error_ ? nullptr : node_->find(key);
  if (value == nullptr || value->kind == YamlNode::Kind::kNull) {
    return nullptr;
  }
  if (value->kind != kind) {
    fail_at(value->line, full_name(key) + " must be " + std::string(what));
    return nullptr;
  }
  return value;
}

void MapReader::text(std::string_view key, std::string& out) {
  if (const YamlNode* value = take(key, YamlNode::Kind::kScalar, "text")) {
    out = value->text;
  }
}

void MapReader::boolean(std::string_view key, bool& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kScalar, "true or false");
  if (value == nullptr) {
    return;
  }
  if (const auto parsed = value->as_bool()) {
    out = *parsed;
  } else {
    refuse(key, "must be true or false");
  }
}

void MapReader::duration(std::string_view key, std::chrono::nanoseconds& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kScalar, "a duration");
  if (value == nullptr) {
    return;
  }
  if (const auto parsed = base::parse_duration(value->text)) {
    out = *parsed;
  } else {
    refuse(key, "is " + parsed.error().message);
  }
}

void MapReader::bytes(std::string_view key, std::uint64_t& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kScalar, "a size");
  if (value == nullptr) {
    return;
  }
  if (const auto parsed = parse_byte_size(value->text)) {
    out = *parsed;
  } else {
    refuse(key, "is " + parsed.error().text());
  }
}

void MapReader::natural(std::string_view key, std::uint64_t& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kScalar, "a whole number");
  if (value == nullptr) {
    return;
  }
  std::uint64_t number = 0;
  const char* const begin = value->text.data();
  const char* const end = begin + value->text.size();
  const auto [stop, status] = std::from_chars(begin, end, number);
  if (status != std::errc() || stop != end ||
      number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    refuse(key, "must be a whole number");
    return;
  }
  out = number;
}

void MapReader::texts(std::string_view key, std::vector<std::string>& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kSequence, "a list");
  if (value == nullptr) {
    return;
  }
  out.clear();
  for (const YamlNode& item : value->items) {
    if (item.kind != YamlNode::Kind::kScalar) {
      fail_at(item.line, full_name(key) + " must be a list of words");
      return;
    }
    out.push_back(item.text);
  }
}

void MapReader::word(std::string_view key, std::span<const std::string_view> words,
                     std::size_t& out) {
  const YamlNode* value = take(key, YamlNode::Kind::kScalar, "a word");
  if (value == nullptr) {
    return;
  }
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == value->text) {
      out = i;
      return;
    }
    all += (i == 0 ? "" : ", ") + std::string(words[i]);
  }
  refuse(key, "must be one of: " + all);
}

std::optional<MapReader> MapReader::map(std::string_view key) {
  const YamlNode* value = take(key, YamlNode::Kind::kMap, "a map");
  if (value == nullptr) {
    return std::nullopt;
  }
  return MapReader(*value, file_,
                   path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

base::Status MapReader::finish() {
  std::set<std::string_view> seen;
  for (const YamlMember& member : node_->members) {
    if (error_) {
      break;
    }
    if (!known_.contains(member.key)) {
      std::string all;
      for (const std::string& key : known_) {
        all += (all.empty() ? "" : ", ") + key;
      }
      fail_at(member.line, "unknown key " + full_name(member.key) + " (known here: " + all + ")");
    } else if (!seen.insert(member.key).second) {
      fail_at(member.line, full_name(member.key) + " is given twice");
    }
  }
  return error_ ? base::Status(base::fail(*error_)) : base::Status();
}

} // namespace jprof::config
