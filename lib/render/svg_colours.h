// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::render {

enum class ColourSource { kName, kNameStart, kPlace };

// Fill colour of a box under one of flamegraph.pl's palettes (hot, mem, io, wakeup, chain, java,
// js, perl, red, green, blue, aqua, yellow, purple, orange). Empty if there is no such palette. By
// name and by the name's start (its --hash) the colours are those of flamegraph.pl; equal names get
// equal colours, except with kPlace, where `place` decides.
std::string palette_colour(std::string_view palette, std::string_view name, ColourSource source,
                           unsigned place);
bool is_palette(std::string_view palette);

// Red for more, blue for less, white for equal.
std::string delta_colour(double delta, double largest);

struct Gradient {
  std::string top;
  std::string bottom;
};
// Background by theme name or "#rrggbb"; empty `theme` follows the palette. Both parts are empty if
// there is no such theme.
Gradient background_gradient(std::string_view theme, std::string_view palette);

} // namespace jprof::render
