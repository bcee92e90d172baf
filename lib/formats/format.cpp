// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format.h"

#include <array>

namespace jprof::formats {
namespace {

// Longer endings first where one ends in another.
constexpr std::array<FormatName, 7> kFormats{{
    {Format::kPage, ".html", "the flame graph page"},
    {Format::kCollapsed, ".collapsed", "folded stacks, one per line"},
    {Format::kSvg, ".svg", "a flame graph as an interactive picture"},
    {Format::kTreeText, ".txt", "the call tree as text"},
    {Format::kTreeJson, ".json", "the call tree as JSON"},
    {Format::kRecording, ".jprof", "the recording itself"},
    {Format::kCollapsed, ".folded", "the same as .collapsed"},
}};

} // namespace

std::span<const FormatName> writable_formats() {
  return kFormats;
}

base::Result<Format> format_of(std::string_view file_name) {
  std::string known;
  for (const FormatName& name : kFormats) {
    if (file_name.ends_with(name.ending) && file_name.size() > name.ending.size()) {
      return name.format;
    }
    if (file_name == name.ending || file_name == name.ending.substr(1)) {
      return base::make_failure(base::ErrorCode::kUsage,
                                "'" + std::string(file_name) + "' is not a file name",
                                "Name a file: its ending gives the format, as in capture" +
                                    std::string(name.ending) + ".");
    }
    known += known.empty() ? "" : " ";
    known += name.ending;
  }
  return base::make_failure(base::ErrorCode::kUsage,
                            "cannot tell the format of '" + std::string(file_name) + "'",
                            "The ending gives it; known endings are " + known + ".");
}

} // namespace jprof::formats
