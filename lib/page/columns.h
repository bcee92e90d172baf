// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The columns of a data block (docs/formats/page.md): built one by one, then packed together.
namespace jprof::page {

void put_u32(std::string& out, std::uint64_t value); // value below 2^32
void put_varint(std::string& out, std::uint64_t value);

// A number as its low byte and a varint of the rest: numbers without an order pack better so.
struct SplitNumbers {
  std::string low;
  std::string high;
  void put(std::uint32_t value) {
    low.push_back(static_cast<char>(value & 0xff));
    put_varint(high, value >> 8);
  }
};

class Columns {
 public:
  void put(std::string_view id, std::string_view bytes); // id: four ASCII letters

  struct Packed {
    std::size_t raw_size = 0;
    std::string bytes; // raw deflate
  };
  // Each large column is packed by what suits it. Takes the columns: their memory is freed on the
  // way.
  Packed pack() &&;

 private:
  std::vector<std::string> columns_; // with their heads
};

} // namespace jprof::page
