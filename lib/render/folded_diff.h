// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace jprof::render {

struct FoldedDiffOptions {
  bool normalize = false; // scale the first to the second's total
  bool strip_hex = false; // addresses become 0x...
};

// Two folded texts as one with two counts per line, "stack BASE CHANGED", as difffolded.pl writes
// it (but sorted, whereas its order is unspecified). kInvalidData if neither has a count.
base::Result<std::string> diff_folded(std::string_view base, std::string_view changed,
                                      const FoldedDiffOptions& options = {});

} // namespace jprof::render
