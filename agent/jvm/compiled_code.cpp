// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/compiled_code.h"

#include "agent/arch/safe_load.h"
#include "agent/sampling/code_cache.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::jvm {
namespace {

using sampling::CodeHeap;
using sampling::VmLayout;

constexpr std::size_t kPieceBytes = 512; // of a segment map; a power of two, so in one page
// A segment's byte says how far back its block begins. An nmethod has more than one segment; where
// nothing has been committed yet, the map is all zeros.
constexpr std::uint8_t kFirst = 0;
constexpr std::uint8_t kSecond = 1;

struct Visitor {
  void (*visit)(std::uint32_t id, void* context);
  void* context;
};

void visit_block(const VmLayout& vm, std::uint64_t block, const Visitor& visitor) {
  sampling::CodeBlob blob;
  std::uint32_t id = 0;
  if (sampling::find_blob(vm, block + vm.heap_block_bytes, &blob) &&
      blob.kind == sampling::BlobKind::kCompiled &&
      arch::load(blob.address + static_cast<std::uint64_t>(vm.compiled.compile_id), &id) &&
      id != 0) {
    visitor.visit(id, visitor.context);
  }
}

// The heap is reserved and then committed from its beginning as needed, and so is the map.
void visit_heap(const VmLayout& vm, const CodeHeap& heap, const Visitor& visitor) {
  const std::uint64_t segments = (heap.end - heap.begin) >> heap.log2_segment;
  std::uint8_t piece[kPieceBytes];
  std::uint8_t before = kSecond;
  for (std::uint64_t first = 0; first < segments; first += kPieceBytes) {
    const std::uint64_t left = segments - first;
    const std::uint64_t count = left < kPieceBytes ? left : kPieceBytes;
    if (!arch::is_readable(heap.segment_map + first) ||
        !arch::copy(piece, heap.segment_map + first, count)) {
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (before == kFirst && piece[i] == kSecond) {
        visit_block(vm, heap.begin + ((first + i - 1) << heap.log2_segment), visitor);
      }
      before = piece[i];
    }
  }
}

} // namespace

bool visit_compile_ids(const VmLayout& vm, void (*visit)(std::uint32_t id, void* context),
                       void* context) {
  if (vm.compiled.compile_id < 0) {
    return false;
  }
  for (std::uint32_t i = 0; i < vm.heap_count; ++i) {
    visit_heap(vm, vm.heaps[i], {visit, context});
  }
  return true;
}

} // namespace jprof::agent::jvm
