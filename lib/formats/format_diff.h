// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format.h"
#include "lib/formats/format_reader.h"
#include "lib/profile/profile.h"

#include <string>

namespace jprof::formats {

struct DiffOptions {
  std::string title;
  bool normalize = false;
  bool strip_hex = false;
  bool negate = false;
};

// Two captures as one page (kPage), picture (kSvg) or folded text with two counts (kCollapsed);
// kUsage for other formats.
base::Result<std::string> diff_as(const profile::Profile& base, const profile::Profile& changed,
                                  Format format, const DiffOptions& options = {});

} // namespace jprof::formats
