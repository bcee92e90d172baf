// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format.h"
#include "lib/formats/format_reader.h"

#include <array>
#include <set>
#include <string>

namespace jprof::formats {

struct DiffOptions {
  std::string title; // empty: made of the names of both
  std::string event; // as find_event() takes it
  bool normalize = false;
  bool strip_hex = false;
  bool negate = false;
};

// What was not read from either input, each once, with the input's name.
struct DiffTold {
  std::set<std::string> left_out;
  std::string damage; // of a recording that is cut off or damaged (ProfileInfo::damage)
};

inline constexpr std::array kDiffFormats{Format::kPage, Format::kSvg, Format::kCollapsed};

// Two captures as one page (kPage), picture (kSvg) or folded text with two counts (kCollapsed);
// kUsage for other formats. Inputs that are already folded text are compared unchanged, as
// difffolded.pl does. kUsage for a picture or text of two inputs that count different things (one
// samples, the other nanoseconds) unless the base is scaled. `told` gets what was not read from
// either.
base::Result<std::string> diff_as(const Input& base, const Input& changed, Format format,
                                  const DiffOptions& options, DiffTold& told);

} // namespace jprof::formats
