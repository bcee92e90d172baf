// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The page's script and style as esbuild makes them of lib/page/src (lib/page/bundle.py), and their
// hashes in the form of a Content-Security-Policy source ("sha256-...").
namespace jprof::page {

std::string_view page_script();
std::string_view page_style();
std::string_view script_hash();
std::string_view style_hash();

} // namespace jprof::page
