// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace jprof::render {

// Additional attributes of a frame's box (flamegraph.pl --nameattr). `href` is an http or https
// link, or one without a scheme: kUsage for others.
struct FrameAttributes {
  std::string title = {}; // instead of name and counts
  std::string href = {};
  std::string target = "_top";
  std::string id = {};
  std::string css_class = {};
};

// The options of `jprof flame`: those of flamegraph.pl, with their names and defaults.
struct SvgOptions {
  std::string title = {}; // empty: "Flame Graph", "Icicle Graph" when inverted, "Flame Chart"
  std::string subtitle = {};
  std::string notes = {}; // a comment in the file
  std::string count_name = "samples";
  std::string name_type = "Function:";
  std::string font_type = "Verdana";
  std::string colors = "hot";
  std::string background =
      {}; // a theme (yellow, blue, green, grey) or #rrggbb; empty: follows `colors`
  double font_size = 12;
  double font_width = 0.59; // mean width of a letter, in font sizes
  double min_width = 0.1;   // smaller boxes are omitted; pixels, or percent of the total
  bool min_width_percent = false;
  double total = 0; // 0: the sum of the counts
  double factor = 1;
  int width = 1200;
  int frame_height = 16;
  bool hash = false;   // colours from a weighted hash of the name's first letters
  bool random = false; // colours that differ from box to box
  bool reverse = false;
  bool inverted = false;
  bool flamechart = false;
  bool negate = false;
  std::map<std::string, FrameAttributes> attributes = {}; // by frame name
};

// Colours by name, "rgb(1,2,3)": existing entries are used, missing ones are added.
using ColourMap = std::map<std::string, std::string>;

// Folded text as an interactive picture (zoom, search, tooltips; no script other than ours, which
// contains no names): boxes, widths and colours are those of flamegraph.pl. Text with two counts is
// drawn differentially. kUsage for options that make no sense, kInvalidData if no line has a count.
base::Result<std::string> write_svg(std::string_view folded, const SvgOptions& options = {},
                                    ColourMap* palette = nullptr);

// A picture that says that there are no samples, as a page does, for a capture in which nothing
// ran.
std::string write_empty_svg(std::string_view title);

} // namespace jprof::render
