// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::base {

// The text with & < > " ' as character references: safe between tags and in quoted attributes of
// HTML and XML. It takes no characters out: foreign text goes through printable() first.
std::string escape_markup(std::string_view text);

} // namespace jprof::base
