// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format.h"
#include "lib/profile/profile.h"

#include <string>

namespace jprof::formats {

struct WriteOptions {
  std::string title; // for pages and pictures; empty: the profile's own
};

// A profile in another format: the bytes of a file. One function for `jprof convert`, for what a
// capture derives and for the plugin.
base::Result<std::string> write_as(const profile::Profile& profile, Format format,
                                   const WriteOptions& options = {});

} // namespace jprof::formats
