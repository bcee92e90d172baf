// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/dispatch_stub.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

constexpr char kChunks[] = "vtable chunks";

// The header before the code (class VtableStub, code/vtableStubs.hpp).
struct Header {
  std::uint64_t next = 0;
  std::uint16_t index = 0;
  std::uint16_t abstract_at = 0; // offsets of instructions that may fault
  std::uint16_t null_at = 0;
  std::uint8_t is_vtable = 0;
  std::uint8_t unused = 0;
};
constexpr std::uint16_t kMaxBytes = 1024; // of one stub
constexpr std::uint16_t kMaxIndex = 0x7fff;
constexpr std::uint32_t kLastKnown = 25;

// Follows the chain from stub to stub, so that code is not mistaken for a header.
bool is_header(const VmLayout& vm, const Header& header) {
  return (header.next == 0 || (vm.contains_code(header.next) && (header.next & 7) == 0)) &&
         header.index <= kMaxIndex && header.abstract_at < kMaxBytes &&
         header.null_at < kMaxBytes && header.is_vtable <= 1;
}

} // namespace

const char* dispatch_stub_name(const VmLayout& vm, const CodeBlob& blob, std::uint64_t pc) {
  if (vm.java_feature > kLastKnown || !arch::holds_text(blob.name, sizeof kChunks - 1, kChunks)) {
    return nullptr;
  }
  std::uint64_t at = (pc & ~std::uint64_t{7}) - sizeof(Header);
  for (; at >= blob.code_begin && pc - at <= kMaxBytes; at -= 8) {
    Header header;
    if (!arch::copy(&header, at, sizeof header)) {
      return nullptr;
    }
    if (is_header(vm, header)) {
      return header.is_vtable != 0 ? "vtable stub" : "itable stub";
    }
  }
  return nullptr;
}

} // namespace jprof::agent::sampling
