// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/collapsed_writer.h"

#include "lib/base/hidden_text.h"
#include "lib/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace jprof::render {
namespace {

std::string_view suffix_of(profile::FrameKind kind) {
  switch (kind) {
  case profile::FrameKind::kInterpreted:
    return "_[0]";
  case profile::FrameKind::kC1:
    return "_[1]";
  case profile::FrameKind::kC2:
    return "_[j]";
  case profile::FrameKind::kInlined:
    return "_[i]";
  case profile::FrameKind::kKernel:
    return "_[k]";
  default:
    return "";
  }
}

std::vector<std::string> frame_texts(const profile::Profile& profile, KindSuffix suffix) {
  std::vector<std::string> texts;
  texts.reserve(profile.frames().size());
  for (const profile::Frame& frame : profile.frames()) {
    std::string text = collapsed_name(profile.string(frame.name));
    if (suffix == KindSuffix::kAnnotate) {
      text += suffix_of(frame.kind);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string line_of(const profile::Profile& profile, const std::vector<std::string>& texts,
                    profile::StackId stack) {
  std::string line;
  for (const profile::FrameId frame : profile.stack(stack)) {
    if (!line.empty()) {
      line += ';';
    }
    line += texts[static_cast<std::size_t>(frame)];
  }
  return line.empty() ? "[empty stack]" : line;
}

} // namespace

std::string collapsed_name(std::string_view name) {
  if (name.empty()) {
    return "[unnamed]";
  }
  std::string out;
  out.reserve(name.size());
  for (std::size_t at = 0; at < name.size();) {
    const base::Utf8Char letter = base::decode_utf8(name.substr(at));
    if (letter.value == ';') {
      out += ':';
    } else if (base::is_hidden(letter.value)) {
      out += ' ';
    } else {
      out += name.substr(at, letter.length);
    }
    at += letter.length;
  }
  return out;
}

std::string write_collapsed(const profile::Profile& profile, const CollapsedOptions& options) {
  const std::vector<std::string> texts = frame_texts(profile, options.suffix);
  std::map<profile::StackId, std::uint64_t> sums;
  for (const profile::Sample& sample : profile.event(options.event).samples) {
    sums[sample.stack] += sample.weight;
  }
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  lines.reserve(sums.size());
  for (const auto& [stack, value] : sums) {
    lines.emplace_back(line_of(profile, texts, stack), value);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint64_t value = lines[i].second;
    // Frames that differ only by kind or line number have one text.
    while (i + 1 < lines.size() && lines[i + 1].first == lines[i].first) {
      value += lines[++i].second;
    }
    out += lines[i].first;
    out += ' ';
    out += std::to_string(value);
    out += '\n';
  }
  return out;
}

} // namespace jprof::render
