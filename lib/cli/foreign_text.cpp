// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/foreign_text.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <unistd.h>

namespace jprof::cli {

void print_foreign(std::string_view text) {
  if (::isatty(STDOUT_FILENO) != 1) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    const std::string safe =
        base::printable(text.substr(0, end), std::numeric_limits<std::size_t>::max() / 2);
    std::fwrite(safe.data(), 1, safe.size(), stdout);
    if (end < text.size()) {
      std::fputc(text[end], stdout);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_warning(const std::string& program, std::string_view text) {
  std::fprintf(stderr, "%s: warning: %s\n", program.c_str(), base::printable(text, 4096).c_str());
}

} // namespace jprof::cli
