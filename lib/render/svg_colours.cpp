// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/svg_colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace jprof::render {
namespace {

struct Ramp {
  std::string_view name;
  std::array<int, 3> from;
  std::array<int, 3> span;
};

// Red, green, blue at 0 and what is added towards 1: the look of each palette of flamegraph.pl.
constexpr std::array<Ramp, 12> kRamps{{
    {"hot", {205, 0, 0}, {50, 230, 55}},
    {"mem", {0, 190, 0}, {0, 50, 210}},
    {"io", {80, 80, 190}, {60, 60, 55}},
    {"red", {200, 50, 50}, {55, 80, 80}},
    {"green", {50, 200, 50}, {60, 55, 60}},
    {"blue", {80, 80, 205}, {60, 60, 50}},
    {"yellow", {175, 175, 50}, {55, 55, 20}},
    {"purple", {190, 80, 190}, {65, 60, 65}},
    {"aqua", {50, 165, 165}, {60, 55, 55}},
    {"orange", {190, 90, 0}, {65, 65, 0}},
    {"grey", {160, 160, 160}, {30, 30, 30}},
    {"wakeup", {50, 165, 165}, {60, 55, 55}},
}};

constexpr std::string_view kByName[] = {"java", "js", "perl", "chain"};

const Ramp* ramp_of(std::string_view palette) {
  const auto found = std::ranges::find(kRamps, palette, &Ramp::name);
  return found == kRamps.end() ? nullptr : &*found;
}

bool starts_like_java(std::string_view name) {
  name = name.starts_with('L') ? name.substr(1) : name;
  for (const std::string_view root :
       {"java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/"}) {
    if (name.starts_with(root)) {
      return true;
    }
  }
  return false;
}

// The annotated palettes pick a ramp by the name's suffix or form.
std::string_view ramp_by_name(std::string_view palette, std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (palette == "chain") {
    return name.ends_with("_[w]") ? "aqua" : "blue";
  }
  if (name.ends_with("_[k]")) {
    return "orange";
  }
  if (palette == "perl") {
    return has("Perl") || has(".pl") ? "green" : has("::") ? "yellow" : "red";
  }
  if (name.ends_with("_[j]")) {
    return palette == "js" && !has("/") ? "aqua" : "green";
  }
  if (name.ends_with("_[i]")) {
    return "aqua";
  }
  if (palette == "js") {
    return has("::") ? "yellow" : has(":") ? "aqua" : "red";
  }
  return starts_like_java(name) || has(":::") ? "green" : has("::") ? "yellow" : "red";
}

// 0..1 from a text, evenly spread.
double spread(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = 0xcbf29ce484222325U ^ seed; // FNV-1a
  for (const char c : text) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return static_cast<double>((h ^ (h >> 29)) >> 11 & 0xfffff) / double{0xfffff};
}

// 0..1 mostly by the first letters: names that begin alike look alike.
double spread_of_start(std::string_view name) {
  double value = 0;
  double whole = 0;
  double weight = 1;
  for (const char c : name.substr(0, 3)) {
    value += weight * (static_cast<unsigned char>(c) % 10) / 9;
    whole += weight;
    weight *= 0.7;
  }
  return whole > 0 ? value / whole : 0;
}

int channel(int from, int span, double v) {
  return from + static_cast<int>(span * v);
}

bool is_hex_colour(std::string_view text) {
  return text.size() == 7 && text[0] == '#' &&
         text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos;
}

std::string rgb(int r, int g, int b) {
  return "rgb(" + std::to_string(r) + "," + std::to_string(g) + "," + std::to_string(b) + ")";
}

} // namespace

bool is_palette(std::string_view palette) {
  return ramp_of(palette) != nullptr ||
         std::ranges::find(kByName, palette) != std::ranges::end(kByName);
}

std::string palette_colour(std::string_view palette, std::string_view name, ColourSource source,
                           unsigned place) {
  if (name == "--" || name == "-") {
    return "rgb(160,160,160)"; // a separator between stacks that were joined
  }
  const Ramp* ramp = ramp_of(palette);
  if (ramp == nullptr && is_palette(palette)) {
    ramp = ramp_of(ramp_by_name(palette, name));
  }
  if (ramp == nullptr) {
    return {};
  }
  const std::uint64_t seed = source == ColourSource::kPlace ? place + 1 : 0;
  const double a = source == ColourSource::kNameStart ? spread_of_start(name) : spread(name, seed);
  const double b = spread(name, seed + 77);
  // Only the hot palette mixes its channels freely; the others are shades of one colour.
  const bool mixed = palette == "hot" || palette == "mem";
  return rgb(channel(ramp->from[0], ramp->span[0], mixed ? b : a),
             channel(ramp->from[1], ramp->span[1], a),
             channel(ramp->from[2], ramp->span[2], mixed ? b : a));
}

std::string delta_colour(double delta, double largest) {
  const int faded =
      std::clamp(static_cast<int>(210 * (largest - std::abs(delta)) / largest), 0, 255);
  if (delta > 0) {
    return rgb(255, faded, faded);
  }
  return delta < 0 ? rgb(faded, faded, 255) : rgb(250, 250, 250);
}

Gradient background_gradient(std::string_view theme, std::string_view palette) {
  if (theme.empty()) {
    theme = palette == "mem"                                               ? "green"
            : palette == "io" || palette == "wakeup" || palette == "chain" ? "blue"
            : palette == "red" || palette == "green" || palette == "blue" || palette == "aqua" ||
                    palette == "yellow" || palette == "purple" || palette == "orange"
                ? "grey"
                : "yellow";
  }
  if (theme == "yellow") {
    return {"#eeeeee", "#eeeeb0"};
  }
  if (theme == "blue") {
    return {"#eeeeee", "#e0e0ff"};
  }
  if (theme == "green") {
    return {"#eef2ee", "#e0ffe0"};
  }
  if (theme == "grey" || theme == "gray") {
    return {"#f8f8f8", "#e8e8e8"};
  }
  if (is_hex_colour(theme)) {
    return {std::string(theme), std::string(theme)};
  }
  return {};
}

} // namespace jprof::render
