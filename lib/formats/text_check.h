// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <string_view>

namespace jprof::formats {

// Tells text from what is none. Stacks are told from other lines by a number at their end alone,
// which one line in a few thousand of any bytes has: without this a picture or an archive becomes a
// profile that looks like one. No text holds a NUL; other control characters than those of white
// space and of terminals are rare in it (a name may have one). Bytes above 0x7f tell nothing: names
// may be of any encoding.
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

// One text as a whole.
base::Status check_text(std::string_view bytes);

} // namespace jprof::formats
