// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::render {

enum class StackOrder { kAsGiven, kReversed };
// kMerged sorts the stacks, so that equal frames are adjacent; kInTime keeps their order
// (flamegraph.pl --flamechart).
enum class FrameOrder { kMerged, kInTime };

// kChain marks what follows a frame "--" as its wakers, by the suffix _[w] (flamegraph.pl --colors
// chain).
enum class StackForm { kPlain, kChain };

struct FlameBox {
  std::string name;
  std::uint32_t depth = 0; // 0: the root, whose name is empty
  double begin = 0;        // in units of the counts
  double end = 0;
  double delta = 0; // second count minus first, of the frame's own samples
  bool has_delta = false;
};

struct FlameLayout {
  std::vector<FlameBox> boxes;
  double total = 0;
  double largest_delta = 1;
};

// Boxes of folded text as flamegraph.pl lays them out: lines sorted bytewise, frames merged with
// those of the line before as far as both start the same. Lines with two counts make it
// differential: widths are those of the second.
FlameLayout lay_out_folded(std::string_view text, FrameOrder frames, StackOrder stacks,
                           StackForm form = StackForm::kPlain);

} // namespace jprof::render
