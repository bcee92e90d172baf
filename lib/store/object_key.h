// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <compare>
#include <string>
#include <string_view>

namespace jprof::store {

using base::Result;
using base::Status;

// Where an object lies beneath a store's root: segments of [A-Za-z0-9._=-], 1 to 128 bytes each,
// none of them "." or "..", joined by '/', 900 bytes at most (S3 allows 1024 with the prefix). So a
// key can neither climb out of a directory nor need quoting anywhere.
class ObjectKey {
 public:
  // kUsage for anything else.
  static Result<ObjectKey> parse(std::string_view text);

  const std::string& text() const { return text_; }
  auto operator<=>(const ObjectKey&) const = default;

 private:
  explicit ObjectKey(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

} // namespace jprof::store
