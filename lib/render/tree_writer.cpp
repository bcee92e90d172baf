// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/tree_writer.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/render/call_tree.h"

#include <cinttypes>
#include <cstdio>
#include <vector>

namespace jprof::render {
namespace {

constexpr std::size_t kMaxNameLength = 4096;
constexpr int kDeepestIndent = 200;

std::string_view unit_word(profile::Unit unit) {
  return unit == profile::Unit::kNanoseconds ? "ns"
         : unit == profile::Unit::kBytes     ? "bytes"
                                             : "samples";
}

std::string_view kind_word(profile::FrameKind kind) {
  static constexpr std::string_view kWords[] = {
      "",    "interpreted", "c1",     "c2",    "inlined", "java-native", "native",
      "jvm", "stub",        "kernel", "error", "thread",  "rest"};
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kWords) ? kWords[at] : std::string_view();
}

// ASCII only: anything that would move a terminal's cursor is escaped.
std::string json_text(std::string_view text) {
  return base::Json(std::string(text)).dump(-1, ' ', true, base::Json::error_handler_t::replace);
}

std::string open_object(const profile::Profile& profile, const CallTree& tree, std::uint32_t node) {
  std::string out =
      "{\"name\":" + (node == 0 ? "\"all\"" : json_text(profile.string(tree.label[node])));
  if (const std::string_view kind = kind_word(tree.kind[node]); node > 0 && !kind.empty()) {
    out += ",\"kind\":\"" + std::string(kind) + "\"";
  }
  out += ",\"total\":" + std::to_string(tree.total_weight[node]) +
         ",\"self\":" + std::to_string(tree.self_weight[node]) +
         ",\"samples\":" + std::to_string(tree.self_count[node]) + ",\"children\":[";
  return out;
}

} // namespace

std::string write_tree_text(const profile::Profile& profile, profile::EventId event) {
  const CallTree tree = build_call_tree(profile, event);
  const double whole = tree.total_weight[0] == 0 ? 1 : static_cast<double>(tree.total_weight[0]);
  std::string out = "   total      self   samples  frame\n";
  std::vector<std::uint32_t> depth(tree.size(), 0);
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    depth[n] = n == 0 ? 0 : depth[tree.parent[n]] + 1;
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "%7.2f%%  %7.2f%%  %8" PRIu64 "  ",
                  100 * static_cast<double>(tree.total_weight[n]) / whole,
                  100 * static_cast<double>(tree.self_weight[n]) / whole, tree.self_count[n]);
    out += numbers;
    const std::uint32_t indent = std::min<std::uint32_t>(depth[n], kDeepestIndent);
    out.append(2 * static_cast<std::size_t>(indent), ' ');
    out += n == 0 ? "all" : base::printable(profile.string(tree.label[n]), kMaxNameLength);
    out += '\n';
  }
  return out;
}

// Without recursion, here or in a JSON library: the stacks may be deeper than ours.
std::string write_tree_json(const profile::Profile& profile, profile::EventId event) {
  const CallTree tree = build_call_tree(profile, event);
  std::string out =
      "{\"format\":\"jprof-tree\",\"version\":1,\"title\":" + json_text(profile.info().title) +
      ",\"event\":" + json_text(profile.event_info(event).name) + ",\"unit\":\"" +
      std::string(unit_word(profile.event_info(event).unit)) +
      "\",\"samples\":" + std::to_string(profile.event(event).total_count) + ",\"tree\":";
  std::vector<std::uint32_t> open;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    while (!open.empty() && tree.end[open.back()] <= n) {
      out += "]}";
      open.pop_back();
    }
    if (!out.ends_with(":") && !out.ends_with("[")) {
      out += ",\n";
    }
    out += open_object(profile, tree, n);
    open.push_back(n);
  }
  for (; !open.empty(); open.pop_back()) {
    out += "]}";
  }
  return out + "}\n";
}

} // namespace jprof::render
