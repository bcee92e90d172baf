// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"
#include "lib/render/call_tree.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The data block of a page: format in docs/formats/page.md. Constants are shared with the reader in
// lib/page/src/data/capture.js.
namespace jprof::page {

inline constexpr std::string_view kMagic = "jprof.pg";
inline constexpr std::uint8_t kFormatMajor = 1;
inline constexpr std::uint8_t kFormatMinor = 1;
inline constexpr std::uint8_t kStored = 0;
inline constexpr std::uint8_t kDeflateRaw = 1;
inline constexpr std::size_t kHeaderBytes = 24;
// Times are kept in steps of a millisecond.
inline constexpr std::int64_t kTickNanoseconds = 1'000'000;

// What a reader may be told about a capture, in the order to show it: label and value.
using Facts = std::vector<std::pair<std::string, std::string>>;
Facts describe_capture(const profile::Profile& profile, profile::EventId event);

// Header and packed columns, not yet base64. Equal profiles give equal bytes with equal zlib.
std::string encode_page_data(const profile::Profile& profile, profile::EventId event,
                             const render::CallTree& tree, const std::string& title);

} // namespace jprof::page
