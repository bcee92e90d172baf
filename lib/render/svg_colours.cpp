// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/svg_colours.h"

#include "lib/base/utf8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace jprof::render {
namespace {

struct Ramp {
  std::string_view name;
  std::array<int, 3> from;
  std::array<int, 3> span;
};

// Red, green and blue at 0, and what is added towards 1, for each palette of flamegraph.pl.
constexpr std::array<Ramp, 10> kRamps{{
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
}};

// These palettes choose a ramp for each name.
constexpr std::string_view kByName[] = {"java", "js", "perl", "chain", "wakeup"};

const Ramp* ramp_of(std::string_view palette) {
  const auto found = std::ranges::find(kRamps, palette, &Ramp::name);
  return found == kRamps.end() ? nullptr : &*found;
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
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

// _[0] and _[1], interpreted and C1, are ours: flamegraph.pl does not know them.
std::string_view java_ramp(std::string_view name) {
  if (name.ends_with("_[i]")) {
    return "aqua";
  }
  for (const std::string_view suffix : {"_[j]", "_[0]", "_[1]"}) {
    if (name.ends_with(suffix)) {
      return "green";
    }
  }
  if (starts_like_java(name) || has(name, ":::")) {
    return "green";
  }
  return has(name, "::") ? "yellow" : name.ends_with("_[k]") ? "orange" : "red";
}

std::string_view perl_ramp(std::string_view name) {
  if (has(name, "::")) {
    return "yellow";
  }
  return has(name, "Perl") || has(name, ".pl") ? "green"
         : name.ends_with("_[k]")              ? "orange"
                                               : "red";
}

std::string_view js_ramp(std::string_view name) {
  if (name.ends_with("_[j]")) {
    return has(name, "/") ? "green" : "aqua";
  }
  if (has(name, "::")) {
    return "yellow";
  }
  const std::size_t slash = name.find('/');
  if (name == " " || (slash != std::string_view::npos && has(name.substr(slash), ".js"))) {
    return "green";
  }
  return has(name, ":") ? "aqua" : has(name, "_[k]") ? "orange" : "red";
}

std::string_view ramp_by_name(std::string_view palette, std::string_view name) {
  if (palette == "java") {
    return java_ramp(name);
  }
  if (palette == "perl") {
    return perl_ramp(name);
  }
  if (palette == "js") {
    return js_ramp(name);
  }
  return palette == "chain" && !has(name, "_[w]") ? "blue" : "aqua";
}

// 0..1: the first value of Perl's rand(1) after srand(seed), which is POSIX's drand48 with an
// initial state of the seed followed by 0x330e.
double first_random(std::uint32_t seed) {
  std::uint64_t state = (std::uint64_t{seed} << 16) + 0x330e;
  state = (state * 0x5deece66d + 0xb) & ((std::uint64_t{1} << 48) - 1);
  return std::ldexp(static_cast<double>(state), -48);
}

std::vector<std::uint32_t> letters_of(std::string_view name) {
  std::vector<std::uint32_t> letters;
  for (std::size_t at = 0; at < name.size();) {
    const base::Utf8Char letter = base::decode_utf8(name.substr(at));
    letters.push_back(static_cast<std::uint32_t>(letter.value));
    at += letter.length;
  }
  return letters;
}

double by_sum(const std::vector<std::uint32_t>& letters, std::uint32_t seed) {
  for (const std::uint32_t letter : letters) {
    seed += letter;
  }
  return first_random(seed);
}

// 0..1 from the first three letters, mostly the first: names that start the same look alike. A
// module's name before a back-quote counts from its second letter on, as in flamegraph.pl.
double by_start(const std::vector<std::uint32_t>& letters) {
  const auto tick =
      letters.empty() ? letters.end() : std::find(letters.begin() + 1, letters.end(), '`');
  std::size_t from =
      tick == letters.end() ? 0 : static_cast<std::size_t>(tick - letters.begin()) + 1;
  double vector = 0;
  double most = 1;
  double weight = 1;
  for (std::uint32_t modulus = 10; modulus <= 12 && from < letters.size(); ++modulus, ++from) {
    vector += (letters[from] % modulus) / (modulus - 1.0) * weight;
    most += weight;
    weight *= 0.7;
  }
  return 1 - vector / most;
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
  if (name == "--") {
    return "rgb(160,160,160)"; // separators between joined stacks
  }
  if (name == "-") {
    return "rgb(200,200,200)";
  }
  const Ramp* ramp = ramp_of(palette);
  if (ramp == nullptr && is_palette(palette)) {
    ramp = ramp_of(ramp_by_name(palette, name));
  }
  if (ramp == nullptr) {
    return {};
  }
  std::vector<std::uint32_t> letters = letters_of(name);
  double a = 0;
  double b = 0;
  if (source == ColourSource::kNameStart) {
    a = by_start(letters);
    std::ranges::reverse(letters);
    b = by_start(letters);
  } else {
    const std::uint32_t seed = source == ColourSource::kPlace ? place * 2654435761U : 0;
    a = by_sum(letters, seed);
    b = source == ColourSource::kPlace ? by_sum(letters, seed ^ 0x9e3779b9U) : a;
  }
  // Three palettes mix two values; the others are shades of one colour.
  const bool hot = palette == "hot";
  const bool mem = palette == "mem";
  return rgb(channel(ramp->from[0], ramp->span[0], hot ? b : a),
             channel(ramp->from[1], ramp->span[1], mem ? b : a),
             channel(ramp->from[2], ramp->span[2], hot || palette == "io" ? b : a));
}

std::string delta_colour(double delta, double largest) {
  const int faded =
      std::clamp(static_cast<int>(210 * (largest - std::abs(delta)) / largest), 0, 255);
  if (delta > 0) {
    return rgb(255, faded, faded);
  }
  return delta < 0 ? rgb(faded, faded, 255) : rgb(255, 255, 255);
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
