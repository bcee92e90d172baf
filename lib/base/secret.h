// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace jprof::base {

// A password, key or token. It has no conversion and no stream operator, so that it cannot slip
// into a message: code that really sends it calls reveal(). The memory is cleared when it is
// destroyed.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.clear(); }
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      clear();
      value_ = other.value_;
    }
    return *this;
  }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      clear();
      value_ = std::move(other.value_);
      other.clear();
    }
    return *this;
  }
  ~Secret() { clear(); }

  bool empty() const { return value_.empty(); }
  std::string_view reveal() const { return value_; }

 private:
  // Through volatile: the compiler may otherwise drop stores to memory that is about to be freed.
  void clear() {
    volatile char* bytes = value_.data();
    for (std::size_t i = 0; i < value_.size(); ++i) {
      bytes[i] = '\0';
    }
    value_.clear();
  }

  std::string value_;
};

} // namespace jprof::base
