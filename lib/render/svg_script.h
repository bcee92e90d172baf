// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace jprof::render {

// The <script> element of a picture, from svg_script.js.
std::string_view svg_script();

} // namespace jprof::render
