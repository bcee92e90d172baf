// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/name_store.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

constexpr std::uint16_t kMaxHolderBytes = 512;
constexpr std::uint16_t kMaxNameBytes = 256;
constexpr std::uint16_t kMaxSignatureBytes = 512;
constexpr std::uint16_t kAccNative = 0x0100; // JVMS 4.6
constexpr std::uint64_t kMaxProbes = 64;
// Of a line table, which takes one byte for most lines. A longer table is left out.
constexpr std::uint32_t kMaxLineBytes = 4096;

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

bool read_symbol(const VmLayout& vm, std::uint64_t symbol, std::uint16_t limit, TextPiece* piece,
                 bool* cut) {
  std::uint16_t length = 0;
  if (symbol == 0 || (symbol & 7) != 0 || !load(field(symbol, vm.method.symbol_length), &length) ||
      length == 0) {
    return false;
  }
  *cut = length > limit;
  piece->address = field(symbol, vm.method.symbol_body);
  piece->bytes = *cut ? limit : length;
  return true;
}

bool read_pool_symbol(const VmLayout& vm, std::uint64_t pool, std::uint64_t const_method,
                      std::int32_t index_field, std::uint16_t limit, TextPiece* piece, bool* cut) {
  std::uint16_t index = 0;
  std::uint32_t length = 0;
  std::uint64_t symbol = 0;
  if (!load(field(const_method, index_field), &index) ||
      !load(field(pool, vm.method.pool_length), &length) || index == 0 || index >= length ||
      !load(field(pool, vm.method.pool_bytes) + std::uint64_t{index} * 8, &symbol)) {
    return false;
  }
  return read_symbol(vm, symbol, limit, piece, cut);
}

bool same_text(const char* text, const TextPiece& piece) {
  std::uint16_t i = 0;
  for (; i + 8 <= piece.bytes; i = static_cast<std::uint16_t>(i + 8)) {
    std::uint64_t ours = 0;
    std::uint64_t theirs = 0;
    __builtin_memcpy(&ours, text + i, 8);
    if (!load(piece.address + i, &theirs) || ours != theirs) {
      return false;
    }
  }
  for (; i < piece.bytes; ++i) {
    std::uint8_t theirs = 0;
    if (!load(piece.address + i, &theirs) || theirs != static_cast<std::uint8_t>(text[i])) {
      return false;
    }
  }
  return true;
}

bool same(const wire::NameRecord* record, const NamedThing& thing) {
  if (record->address != thing.address || record->class_bytes != thing.holder.bytes ||
      record->name_bytes != thing.name.bytes || record->signature_bytes != thing.signature.bytes ||
      record->flags != thing.flags || record->version != thing.version ||
      record->kind != static_cast<std::uint16_t>(thing.kind)) {
    return false;
  }
  const auto* text = reinterpret_cast<const char*>(record + 1);
  return same_text(text + thing.holder.bytes, thing.name) && same_text(text, thing.holder) &&
         same_text(text + thing.holder.bytes + thing.name.bytes, thing.signature);
}

// Where a number in HotSpot's compressed streams ends: at its fifth byte, or at a byte below 192
// (utilities/unsigned5, code/compressedStream).
bool skip_number(std::uint64_t table, std::uint32_t* at) {
  for (unsigned i = 0; i < 5; ++i) {
    std::uint8_t byte = 0;
    if (!load(table + (*at)++, &byte)) {
      return false;
    }
    if (byte < 192) {
      return true;
    }
  }
  return true;
}

// Bytes of a compressed line table, including its final zero; 0 if it is too long to keep. An entry
// is one byte, or 0xff and two numbers.
std::uint32_t line_bytes(std::uint64_t table) {
  for (std::uint32_t at = 0; table != 0 && at < kMaxLineBytes;) {
    std::uint8_t byte = 0;
    if (!load(table + at++, &byte)) {
      return 0;
    }
    if (byte == 0) {
      return at;
    }
    if (byte == 0xff && (!skip_number(table, &at) || !skip_number(table, &at))) {
      return 0;
    }
  }
  return 0;
}

// Writes a complete record; 0 if there is no room or the text went away while it was being copied.
std::uint32_t write(const Arena& arena, const NamedThing& thing) {
  const std::uint32_t text_bytes =
      std::uint32_t{thing.holder.bytes} + thing.name.bytes + thing.signature.bytes;
  const std::uint32_t lines = line_bytes(thing.line_table);
  const std::uint32_t record_bytes =
      (static_cast<std::uint32_t>(sizeof(wire::NameRecord)) + text_bytes + lines + 7U) & ~7U;
  auto* record = static_cast<wire::NameRecord*>(arena.reserve(record_bytes));
  if (record == nullptr) {
    return 0;
  }
  auto* text = reinterpret_cast<char*>(record + 1);
  record->record_bytes = record_bytes;
  record->kind = static_cast<std::uint16_t>(thing.kind);
  record->flags = thing.flags;
  record->class_bytes = thing.holder.bytes;
  record->name_bytes = thing.name.bytes;
  record->signature_bytes = thing.signature.bytes;
  record->access_flags = thing.access_flags;
  record->version = thing.version;
  record->address = thing.address;
  const bool copied = arch::copy(text, thing.holder.address, thing.holder.bytes) &&
                      arch::copy(text + thing.holder.bytes, thing.name.address, thing.name.bytes) &&
                      arch::copy(text + thing.holder.bytes + thing.name.bytes,
                                 thing.signature.address, thing.signature.bytes) &&
                      arch::copy(text + text_bytes, thing.line_table, lines);
  if (!copied) {
    record->kind = 0; // a reader skips unknown kinds
  }
  store_release(record->ready, std::uint32_t{1});
  return copied ? arena.offset_of(record) : 0;
}

std::uint64_t hash_address(std::uint64_t address) {
  const std::uint64_t hash = (address >> 3) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29;
}

} // namespace

bool read_method(const VmLayout& vm, std::uint64_t method, MethodView* view) {
  const auto& fields = vm.method;
  std::uint64_t const_method = 0;
  std::uint64_t pool = 0;
  std::uint64_t holder = 0;
  std::uint64_t holder_name = 0;
  std::uint16_t code_size = 0;
  if (method == 0 || (method & 7) != 0 ||
      !load(field(method, fields.const_method), &const_method) || const_method == 0 ||
      (const_method & 7) != 0 || !load(field(const_method, fields.constants), &pool) || pool == 0 ||
      (pool & 7) != 0 || !load(field(pool, fields.pool_holder), &holder) || holder == 0 ||
      (holder & 7) != 0 || !load(field(holder, fields.klass_name), &holder_name) ||
      !load(field(method, fields.access_flags), &view->text.access_flags) ||
      !load(field(const_method, fields.code_size), &code_size)) {
    return false;
  }
  auto& text = view->text;
  bool holder_cut = false;
  bool name_cut = false;
  bool signature_cut = false;
  if (!read_symbol(vm, holder_name, kMaxHolderBytes, &text.holder, &holder_cut) ||
      !read_pool_symbol(vm, pool, const_method, fields.name_index, kMaxNameBytes, &text.name,
                        &name_cut) ||
      !read_pool_symbol(vm, pool, const_method, fields.signature_index, kMaxSignatureBytes,
                        &text.signature, &signature_cut)) {
    return false;
  }
  std::uint16_t method_flags = 0;
  const bool has_lines = fields.flags >= 0 &&
                         load(field(const_method, fields.flags), &method_flags) &&
                         (method_flags & fields.has_lines) != 0;
  text.version = static_cast<std::uint32_t>(const_method >> 3);
  text.line_table =
      has_lines ? field(const_method, fields.const_method_bytes) + code_size : std::uint64_t{0};
  text.address = method;
  text.kind = wire::NameKind::kMethod;
  text.flags = static_cast<std::uint16_t>(
      (holder_cut ? static_cast<unsigned>(wire::NameFlag::kClassCut) : 0U) |
      (name_cut ? static_cast<unsigned>(wire::NameFlag::kNameCut) : 0U) |
      (signature_cut ? static_cast<unsigned>(wire::NameFlag::kSignatureCut) : 0U) |
      (has_lines ? static_cast<unsigned>(wire::NameFlag::kHasLines) : 0U) |
      (vm.number_bias != 0 ? static_cast<unsigned>(wire::NameFlag::kLinesExcludeZero) : 0U));
  view->bytecodes = field(const_method, fields.const_method_bytes);
  view->bytecode_bytes = code_size;
  view->is_native = (text.access_flags & kAccNative) != 0;
  return true;
}

bool read_stub_name(std::uint64_t address, std::uint64_t name, NamedThing* thing) {
  std::uint16_t length = 0;
  std::uint8_t character = 0;
  while (length < kMaxNameBytes && load(name + length, &character) && character != 0) {
    ++length;
  }
  thing->address = address;
  thing->kind = wire::NameKind::kStub;
  thing->name = TextPiece{name, length};
  return length != 0;
}

std::uint32_t NameStore::put(const NamedThing& thing) const {
  const std::uint64_t hash = hash_address(thing.address);
  const std::uint64_t tag = hash >> 32 << 32;
  std::uint32_t mine = 0;
  for (std::uint64_t probe = 0; probe < kMaxProbes; ++probe) {
    std::uint64_t& slot = table.slots[(hash + probe) & table.mask];
    std::uint64_t entry = load_acquire(slot);
    if (entry == 0) {
      mine = mine != 0 ? mine : write(arena, thing);
      if (mine == 0) {
        return 0;
      }
      if (shared(slot).compare_exchange_strong(entry, tag | mine, std::memory_order_acq_rel)) {
        return mine;
      }
    }
    if (entry >> 32 << 32 == tag &&
        same(arena.record_at<wire::NameRecord>(static_cast<std::uint32_t>(entry)), thing)) {
      return static_cast<std::uint32_t>(entry);
    }
  }
  return mine != 0 ? mine : write(arena, thing);
}

} // namespace jprof::agent::sampling
