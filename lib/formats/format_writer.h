// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format.h"
#include "lib/profile/profile.h"

#include <string>

namespace jprof::formats {

// How pictures name what folded text counts, and what they multiply it by before they show it.
struct CountWords {
  std::string name; // "samples", "bytes", "ms"
  double factor = 1;
};
CountWords count_words(profile::Unit unit);

struct WriteOptions {
  std::string title; // for pages and pictures; empty: the profile's own
};

// A profile in another format: the bytes of a file. One function for `jprof convert`, for what a
// capture derives and for the plugin.
base::Result<std::string> write_as(const profile::Profile& profile, Format format,
                                   const WriteOptions& options = {});

} // namespace jprof::formats
