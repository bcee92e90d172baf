// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/quantity.h"

#include <array>
#include <cstdlib>
#include <utility>

namespace jprof::kube {
namespace {

// k8s.io/apimachinery/pkg/api/resource/suffix.go; an exponent ("e3", "E3") is strtod's.
constexpr std::array<std::pair<std::string_view, double>, 16> kSuffixes{{{"", 1.0},
                                                                         {"n", 1e-9},
                                                                         {"u", 1e-6},
                                                                         {"m", 1e-3},
                                                                         {"k", 1e3},
                                                                         {"M", 1e6},
                                                                         {"G", 1e9},
                                                                         {"T", 1e12},
                                                                         {"P", 1e15},
                                                                         {"E", 1e18},
                                                                         {"Ki", 0x1p10},
                                                                         {"Mi", 0x1p20},
                                                                         {"Gi", 0x1p30},
                                                                         {"Ti", 0x1p40},
                                                                         {"Pi", 0x1p50},
                                                                         {"Ei", 0x1p60}}};
constexpr double kMaxValue = 0x1p63;
constexpr std::size_t kMaxTextBytes = 64;

} // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  // Only what a quantity begins with: strtod would also take blanks, "inf" and hexadecimals.
  const bool number = !text.empty() && text.size() <= kMaxTextBytes &&
                      (text[0] == '+' || text[0] == '.' || (text[0] >= '0' && text[0] <= '9')) &&
                      text.find_first_of("xX") == std::string_view::npos;
  if (!number) {
    return std::nullopt;
  }
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  const std::string_view suffix(end);
  for (const auto& [word, factor] : kSuffixes) {
    if (end != copy.c_str() && word == suffix && value >= 0 && value * factor < kMaxValue) {
      return static_cast<std::uint64_t>(value * factor);
    }
  }
  return std::nullopt;
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes / (std::uint64_t{1} << 20U)) + " MiB";
}

} // namespace jprof::kube
