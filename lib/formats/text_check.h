// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string_view>

namespace jprof::formats {

// Distinguishes text from anything else. Only a number at the end distinguishes stacks from other
// lines, and one line in a few thousand of arbitrary bytes has one: without this check a picture or
// an archive becomes a profile that looks real. Text contains no NUL; control characters other than
// those of white space and terminals are rare in it (a name may have one). Bytes above 0x7f prove
// nothing: names may be in any encoding.
class TextCheck {
 public:
  void add(std::string_view piece);
  // kInvalidData as soon as it is certain.
  base::Status verdict() const;

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t controls_ = 0;
  bool has_nul_ = false;
};

// One complete text.
base::Status check_text(std::string_view bytes);

} // namespace jprof::formats
