// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace jprof::config {
namespace {

using Kind = YamlNode::Kind;

// Thrown through yaml-cpp's parser, which has no other way to be stopped; caught in parse_yaml.
struct Stop {
  base::ErrorCode code;
  int line;
  std::string message;
};

int line_of(const YAML::Mark& mark) {
  return mark.line + 1;
}

std::size_t count_nodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const YamlNode& item : node.items) {
    count += count_nodes(item);
  }
  for (const YamlMember& member : node.members) {
    count += count_nodes(member.value);
  }
  return count;
}

// YAML 1.1 merge keys: what the map itself says wins over what it merges, earlier over later.
void merge_map(std::vector<YamlMember>& into, const YamlNode& from) {
  for (const YamlMember& member : from.members) {
    const bool known = std::any_of(into.begin(), into.end(), [&member](const YamlMember& other) {
      return other.key == member.key;
    });
    if (!known) {
      into.push_back(member);
    }
  }
}

void apply_merge_keys(YamlNode& map) {
  std::vector<YamlNode> sources;
  for (YamlMember& member : map.members) {
    if (member.key != "<<") {
      continue;
    }
    if (member.value.kind == Kind::kMap) {
      sources.push_back(std::move(member.value));
    } else {
      for (YamlNode& item : member.value.items) {
        sources.push_back(std::move(item));
      }
    }
  }
  if (sources.empty()) {
    return;
  }
  std::erase_if(map.members, [](const YamlMember& member) { return member.key == "<<"; });
  for (const YamlNode& source : sources) {
    merge_map(map.members, source);
  }
}

// Builds the tree from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlLimits& limits) : limits_(limits) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(mark, Kind::kNull), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      throw Stop{base::ErrorCode::kConfigInvalid, line_of(mark), "an anchor refers to itself"};
    }
    spend(known->second.second, line_of(mark));
    if (open_.size() + depth_of(known->second.first) > limits_.depth) {
      throw too_deep(mark);
    }
    add(known->second.first, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, Kind::kScalar);
    node.plain = tag == "?";
    node.text = value;
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Kind::kSequence, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Kind::kMap, anchor);
  }
  void OnMapEnd() override {
    apply_merge_keys(open_.back().node);
    close();
  }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::optional<YamlMember> member; // a map's key that waits for its value
  };

  static Stop too_deep(const YAML::Mark& mark) {
    return {base::ErrorCode::kLimit, line_of(mark), "nested too deeply"};
  }
  static std::size_t depth_of(const YamlNode& node) {
    std::size_t depth = 0;
    for (const YamlNode& item : node.items) {
      depth = std::max(depth, depth_of(item));
    }
    for (const YamlMember& member : node.members) {
      depth = std::max(depth, depth_of(member.value));
    }
    return depth + 1;
  }

  void spend(std::size_t nodes, int line) {
    spent_ += nodes;
    if (spent_ > limits_.nodes) {
      throw Stop{base::ErrorCode::kLimit, line, "too many values"};
    }
  }
  YamlNode make(const YAML::Mark& mark, Kind kind) {
    spend(1, line_of(mark));
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    return node;
  }
  void open(const YAML::Mark& mark, Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= limits_.depth) {
      throw too_deep(mark);
    }
    open_.push_back({make(mark, kind), anchor, std::nullopt});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }
  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      const std::size_t size = count_nodes(node);
      spend(size, node.line); // the copy kept for later; anchors nest
      anchors_[anchor] = {node, size};
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.member) {
      parent.member->value = std::move(node);
      parent.node.members.push_back(std::move(*parent.member));
      parent.member.reset();
    } else if (node.kind == Kind::kScalar) {
      parent.member = YamlMember{node.text, node.line, {}};
    } else {
      throw Stop{base::ErrorCode::kConfigInvalid, node.line, "a key must be a word"};
    }
  }

  const YamlLimits limits_;
  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::pair<YamlNode, std::size_t>> anchors_;
  std::size_t spent_ = 0;
};

tl::unexpected<base::Error> failure(std::string_view name, const Stop& stop) {
  return base::make_failure(stop.code, std::string(name) + " line " + std::to_string(stop.line) +
                                           ": " + stop.message);
}

} // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [key](const YamlMember& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

std::string YamlNode::string_at(std::string_view key, std::string_view fallback) const {
  const YamlNode* value = find(key);
  return value != nullptr && value->kind == Kind::kScalar ? value->text : std::string(fallback);
}

std::optional<bool> YamlNode::as_bool() const {
  if (kind != Kind::kScalar || !plain) {
    return std::nullopt;
  }
  for (const char* yes : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
    if (text == yes) {
      return true;
    }
  }
  for (const char* no : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
    if (text == no) {
      return false;
    }
  }
  return std::nullopt;
}

bool YamlNode::bool_at(std::string_view key, bool fallback) const {
  const YamlNode* value = find(key);
  return value == nullptr ? fallback : value->as_bool().value_or(fallback);
}

base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view name,
                                  const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::make_failure(base::ErrorCode::kLimit, std::string(name) + " is larger than " +
                                                           std::to_string(limits.bytes) + " bytes");
  }
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(limits);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const Stop& stop) {
    return failure(name, stop);
  } catch (const YAML::Exception& e) {
    const int line = std::max(line_of(e.mark), 1);
    return failure(name, {base::ErrorCode::kConfigInvalid, line, "not YAML: " + e.msg});
  } catch (const std::exception& e) {
    return base::make_failure(base::ErrorCode::kConfigInvalid,
                              std::string(name) + ": not YAML: " + e.what());
  }
  return builder.take();
}

} // namespace jprof::config
