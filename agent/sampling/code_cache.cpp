// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/code_cache.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

constexpr std::uint8_t kFreeSegment = 255;
constexpr std::uint64_t kMaxHops = 100'000;

// The first eight bytes of a blob's name as one number.
constexpr std::uint64_t name_start(const char (&text)[9]) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    value = value << 8 | static_cast<std::uint8_t>(text[i]);
  }
  return value;
}
constexpr std::uint64_t kNmethod = name_start("nmethod\0");
constexpr std::uint64_t kNativeNmethod = name_start("native n");
constexpr std::uint64_t kInterpreterName = name_start("Interpre");

bool find_block(const CodeHeap& heap, std::uint64_t pc, std::uint64_t* block) {
  std::uint64_t segment = (pc - heap.begin) >> heap.log2_segment;
  for (std::uint64_t hops = 0; hops < kMaxHops; ++hops) {
    std::uint8_t back = 0;
    if (!load(heap.segment_map + segment, &back) || back == kFreeSegment || back > segment) {
      return false;
    }
    if (back == 0) {
      *block = heap.begin + (segment << heap.log2_segment);
      return true;
    }
    segment -= back;
  }
  return false;
}

BlobKind kind_of(std::uint64_t name) {
  const std::uint64_t start = arch::word_at(name);
  if (start == kNmethod || start == kNativeNmethod) {
    return BlobKind::kCompiled;
  }
  return start == kInterpreterName ? BlobKind::kInterpreter : BlobKind::kStub;
}

bool read_blob(const VmLayout& vm, std::uint64_t address, CodeBlob* blob) {
  const auto& fields = vm.blob;
  const auto at = [&](std::int32_t offset) { return address + static_cast<std::uint64_t>(offset); };
  std::uint32_t size = 0;
  std::uint32_t frame_words = 0;
  if (!load(at(fields.size), &size) || !load(at(fields.frame_size), &frame_words) ||
      !load(at(fields.name), &blob->name)) {
    return false;
  }
  if (fields.code_begin >= 0) {
    if (!load(at(fields.code_begin), &blob->code_begin)) {
      return false;
    }
  } else {
    std::uint32_t offset = 0;
    if (!load(at(fields.code_offset), &offset)) {
      return false;
    }
    blob->code_begin = address + offset;
  }
  std::int64_t complete = -1;
  read_int(address, fields.frame_complete, &complete);
  blob->address = address;
  blob->end = address + size;
  blob->frame_bytes =
      static_cast<std::int32_t>(frame_words) > 0 ? std::uint64_t{frame_words} * 8 : 0;
  blob->frame_complete = complete > 0 ? blob->code_begin + static_cast<std::uint64_t>(complete) : 0;
  blob->kind = kind_of(blob->name);
  return true;
}

// The start of the blob whose block holds `pc`; 0 if `pc` is in no used block.
std::uint64_t blob_address(const VmLayout& vm, std::uint64_t pc) {
  for (std::uint32_t i = 0; i < vm.heap_count; ++i) {
    const CodeHeap& heap = vm.heaps[i];
    if (pc < heap.begin || pc >= heap.end) {
      continue;
    }
    std::uint64_t block = 0;
    std::int64_t used = 0;
    return find_block(heap, pc, &block) && read_int(block, vm.heap_block_used, &used) && used != 0
               ? block + vm.heap_block_bytes
               : 0;
  }
  return 0;
}

} // namespace

bool read_int(std::uint64_t object, const IntField& field, std::int64_t* value) {
  if (field.offset < 0) {
    return false;
  }
  const std::uint64_t at = object + static_cast<std::uint64_t>(field.offset);
  if (field.bytes == 1) {
    std::uint8_t raw = 0;
    if (!load(at, &raw)) {
      return false;
    }
    *value = field.is_signed ? static_cast<std::int8_t>(raw) : std::int64_t{raw};
    return true;
  }
  if (field.bytes == 2) {
    std::uint16_t raw = 0;
    if (!load(at, &raw)) {
      return false;
    }
    *value = field.is_signed ? static_cast<std::int16_t>(raw) : std::int64_t{raw};
    return true;
  }
  std::uint32_t raw = 0;
  if (!load(at, &raw)) {
    return false;
  }
  *value = field.is_signed ? static_cast<std::int32_t>(raw) : std::int64_t{raw};
  return true;
}

bool find_blob(const VmLayout& vm, std::uint64_t pc, CodeBlob* blob) {
  const std::uint64_t address = blob_address(vm, pc);
  return address != 0 && read_blob(vm, address, blob) && pc < blob->end;
}

bool is_in_blob(const VmLayout& vm, std::uint64_t pc, std::uint64_t address) {
  return address != 0 && blob_address(vm, pc) == address;
}

} // namespace jprof::agent::sampling
