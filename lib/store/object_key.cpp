// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/object_key.h"

#include "lib/base/encoding.h"

#include <algorithm>

namespace jprof::store {
namespace {

constexpr std::size_t kMaxSegmentLength = 128;
constexpr std::size_t kMaxKeyLength = 900;

bool is_segment(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSegmentLength && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '=' || c == '-';
         });
}

} // namespace

Result<ObjectKey> ObjectKey::parse(std::string_view text) {
  bool good = text.size() <= kMaxKeyLength;
  std::string_view rest = text;
  while (good) {
    const auto slash = rest.find('/');
    good = is_segment(rest.substr(0, slash));
    if (slash == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(slash + 1);
  }
  if (!good) {
    return base::make_failure(base::ErrorCode::kUsage,
                              "not an object key: " + base::printable(text));
  }
  return ObjectKey(std::string(text));
}

} // namespace jprof::store
