// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/compiled_method.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

constexpr std::uint64_t kPcDescBytes = 16; // code/pcDesc.hpp, all releases: four ints
constexpr std::uint64_t kMaxPcDescs = 1U << 20;
constexpr std::int64_t kC2Level = 4;

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

bool read_offset(std::uint64_t object, std::int32_t at, std::uint64_t base, std::uint64_t* result) {
  std::uint32_t offset = 0;
  if (at < 0 || !load(field(object, at), &offset)) {
    return false;
  }
  *result = base + offset;
  return true;
}

bool find_metadata(const VmLayout& vm, const CodeBlob& blob, std::uint64_t* metadata) {
  if (vm.compiled.metadata_in_mutable_data) {
    std::uint64_t mutable_data = 0;
    return load(field(blob.address, vm.blob.mutable_data), &mutable_data) &&
           read_offset(blob.address, vm.blob.relocation_size, mutable_data, metadata);
  }
  std::int64_t offset = 0;
  if (!read_int(blob.address, vm.compiled.metadata_offset, &offset)) {
    return false;
  }
  std::int64_t base = 0;
  if (vm.compiled.immutable_data >= 0 && !read_int(blob.address, vm.blob.data_offset, &base)) {
    return false;
  }
  *metadata = blob.address + static_cast<std::uint64_t>(base + offset);
  return true;
}

// Reads one number in UNSIGNED5 encoding: up to five bytes; a byte below 192 ends the number.
bool read_number(const VmLayout& vm, std::uint64_t& position, std::uint32_t* value) {
  const std::uint32_t bias = vm.number_bias;
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 5; ++i) {
    std::uint8_t byte = 0;
    if (!load(position, &byte) || byte < bias) {
      return false;
    }
    ++position;
    sum += (byte - bias) << (6 * i);
    if (byte < 192) {
      break;
    }
  }
  *value = sum;
  return true;
}

std::uint64_t pc_desc_count(const CompiledMethod& compiled) {
  const std::uint64_t count = (compiled.scopes_pcs_end - compiled.scopes_pcs) / kPcDescBytes;
  return compiled.scopes_pcs_end > compiled.scopes_pcs && count <= kMaxPcDescs ? count : 0;
}

// Finds the address of the first descriptor at or after `pc`, and its pc offset. The array is
// sorted and ends with a sentinel.
bool find_pc_desc(const CompiledMethod& compiled, std::uint64_t pc, std::uint64_t* found,
                  std::int32_t* found_offset) {
  const auto wanted = static_cast<std::int32_t>(pc - compiled.code_begin);
  std::uint64_t low = 0;
  std::uint64_t high = pc_desc_count(compiled);
  const std::uint64_t end = high;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint32_t offset = 0;
    if (!load(compiled.scopes_pcs + middle * kPcDescBytes, &offset)) {
      return false;
    }
    if (static_cast<std::int32_t>(offset) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  std::uint32_t offset = 0;
  if (low == end || !load(compiled.scopes_pcs + low * kPcDescBytes, &offset)) {
    return false;
  }
  *found = compiled.scopes_pcs + low * kPcDescBytes;
  *found_offset = static_cast<std::int32_t>(offset);
  return true;
}

} // namespace

bool read_compiled_method(const VmLayout& vm, const CodeBlob& blob, CompiledMethod* compiled) {
  const auto& fields = vm.compiled;
  std::int64_t level = 0;
  compiled->address = blob.address;
  compiled->code_begin = blob.code_begin;
  if (!load(field(blob.address, fields.method), &compiled->method)) {
    return false;
  }
  compiled->optimised = read_int(blob.address, fields.comp_level, &level) && level == kC2Level;
  std::uint64_t base = blob.address;
  if (fields.immutable_data >= 0 && !load(field(blob.address, fields.immutable_data), &base)) {
    return false;
  }
  const bool data =
      fields.scopes_data_begin >= 0
          ? load(field(blob.address, fields.scopes_data_begin), &compiled->scopes_data)
          : read_offset(blob.address, fields.scopes_data_offset, base, &compiled->scopes_data);
  return data && read_offset(blob.address, fields.scopes_pcs_offset, base, &compiled->scopes_pcs) &&
         read_offset(blob.address, fields.scopes_pcs_end_offset, base, &compiled->scopes_pcs_end) &&
         find_metadata(vm, blob, &compiled->metadata);
}

bool scope_at(const VmLayout& vm, const CompiledMethod& compiled, std::uint32_t offset,
              Scope* scope) {
  std::uint64_t position = compiled.scopes_data + offset;
  std::uint32_t sender = 0;
  std::uint32_t method = 0;
  std::uint32_t bci = 0;
  if (!read_number(vm, position, &sender) || !read_number(vm, position, &method) ||
      !read_number(vm, position, &bci)) {
    return false;
  }
  scope->sender = sender;
  scope->bci = static_cast<std::int32_t>(bci) - 1; // stored plus one: -1 is "before the first"
  return method != 0 && load(compiled.metadata + (std::uint64_t{method} - 1) * 8, &scope->method);
}

bool innermost_scope(const VmLayout& vm, const CompiledMethod& compiled, std::uint64_t pc,
                     Scope* scope) {
  std::uint64_t description = 0;
  std::int32_t pc_offset = 0;
  std::uint32_t decode_offset = 0;
  if (!find_pc_desc(compiled, pc, &description, &pc_offset) ||
      !load(description + 4, &decode_offset) || decode_offset == 0) {
    return false;
  }
  return scope_at(vm, compiled, decode_offset, scope);
}

bool is_call_return(const CompiledMethod& compiled, std::uint64_t pc) {
  std::uint64_t description = 0;
  std::int32_t pc_offset = 0;
  return find_pc_desc(compiled, pc, &description, &pc_offset) &&
         compiled.code_begin + static_cast<std::uint64_t>(pc_offset) == pc;
}

bool original_pc(const VmLayout& vm, const CodeBlob& blob, std::uint64_t sp, std::uint64_t* pc) {
  const auto& fields = vm.compiled;
  std::uint64_t handler = 0;
  std::uint64_t mh_handler = 0;
  if (fields.deopt_handler >= 0) {
    load(field(blob.address, fields.deopt_handler), &handler);
    if (fields.deopt_mh_handler >= 0) {
      load(field(blob.address, fields.deopt_mh_handler), &mh_handler);
    }
  } else {
    read_offset(blob.address, fields.deopt_handler_offset, blob.address, &handler);
    read_offset(blob.address, fields.deopt_mh_handler_offset, blob.address, &mh_handler);
  }
  if (*pc != handler && *pc != mh_handler) {
    return false;
  }
  std::uint64_t saved = 0;
  return read_offset(blob.address, fields.orig_pc_offset, sp, &saved) && load(saved, pc);
}

} // namespace jprof::agent::sampling
