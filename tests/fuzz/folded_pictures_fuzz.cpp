// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Attack surface: folded text that is drawn or compared as it stands (jprof flame, jprof diff). The
// first byte chooses options. Sought: crashes, boxes out of proportion, markup made of names.
#include "lib/render/folded_diff.h"
#include "lib/render/svg_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof::render;
  if (size == 0) {
    return 0;
  }
  const unsigned bits = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::string_view kPalettes[] = {"hot",  "java", "js", "chain",
                                            "perl", "mem",  "io", "red"};
  SvgOptions options;
  options.colors = kPalettes[bits & 7U];
  options.reverse = (bits & 8U) != 0;
  options.flamechart = (bits & 16U) != 0;
  options.hash = (bits & 32U) != 0;
  const auto svg = write_svg(text, options);
  // Each box is one <g> with one <title>, <rect> and <text>: names open nothing.
  const auto count = [&](std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = svg->find(part); at != std::string::npos; at = svg->find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  if (svg && (count("<title>") != count("<g class=\"box\">") || count("<script") != 1)) {
    std::abort();
  }
  const std::size_t half = text.find("\n\n");
  if (half != std::string_view::npos) {
    (void)diff_folded(text.substr(0, half), text.substr(half),
                      {.normalize = (bits & 64U) != 0, .strip_hex = (bits & 128U) != 0});
  }
  return 0;
}
