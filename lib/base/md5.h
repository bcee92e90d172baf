// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace jprof::base {

// What S3's ETags are made of; useless where somebody may want two texts to have one digest.
using Md5 = std::array<std::byte, 16>;

// For data that comes in pieces. One thread at a time.
class Md5Stream {
 public:
  Md5Stream();
  ~Md5Stream();
  Md5Stream(const Md5Stream&) = delete;
  Md5Stream& operator=(const Md5Stream&) = delete;
  void update(std::string_view bytes);
  // Ends the stream: call once. None if OpenSSL is configured without MD5 (FIPS).
  std::optional<Md5> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace jprof::base
