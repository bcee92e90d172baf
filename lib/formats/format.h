// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

// Which format a file is in: by the ending of its name.
namespace jprof::formats {

enum class Format { kRecording, kCollapsed, kPage, kSvg, kTreeText, kTreeJson };

struct FormatName {
  Format format;
  std::string_view ending; // with its dot
  std::string_view meaning;
};

// All formats that can be written, in the order to show them.
std::span<const FormatName> writable_formats();

// The format of a file name's ending; kUsage with the known endings otherwise. A bare "json" or
// "html" (no dot) is refused with a hint: it is a file name, not a format.
base::Result<Format> format_of(std::string_view file_name);

} // namespace jprof::formats
