// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/name_store.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace jprof::agent::sampling {

struct Symbol {
  std::uint16_t length = 0;
  char body[700] = {};
  void set(const std::string& text) {
    length = static_cast<std::uint16_t>(text.size());
    std::memcpy(body, text.data(), text.size());
  }
};

// One Method with what hangs on it, laid out in a way of our own.
struct alignas(8) FakeMethod {
  alignas(8) Symbol holder_name;
  alignas(8) Symbol name;
  alignas(8) Symbol signature;
  struct alignas(8) {
    const void* name = nullptr;
  } klass;
  struct alignas(8) {
    const void* holder = nullptr;
    std::int32_t length = 3;
    const void* entries[3] = {};
  } pool;
  struct alignas(8) {
    const void* constants = nullptr;
    std::uint16_t code_size = 9;
    std::uint16_t name_index = 1;
    std::uint16_t signature_index = 2;
    std::uint16_t flags = 0; // 4: a line table follows the bytecodes
  } const_method;
  std::uint8_t bytecodes_and_lines[9 + 64] = {};
  struct alignas(8) {
    const void* const_method = nullptr;
    std::uint32_t access_flags = 0x0009;
  } method;

  FakeMethod(const std::string& holder, const std::string& method_name, const std::string& types) {
    rename(holder, method_name, types);
    klass.name = &holder_name;
    pool.holder = &klass;
    pool.entries[1] = &name;
    pool.entries[2] = &signature;
    const_method.constants = &pool;
    method.const_method = &const_method;
  }
  void rename(const std::string& holder, const std::string& method_name, const std::string& types) {
    holder_name.set(holder);
    name.set(method_name);
    signature.set(types);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(&method); }
};

inline VmLayout fake_layout() {
  VmLayout vm;
  auto& fields = vm.method;
  fields.const_method = 0;
  fields.access_flags = offsetof(decltype(FakeMethod::method), access_flags);
  fields.constants = 0;
  fields.code_size = offsetof(decltype(FakeMethod::const_method), code_size);
  fields.name_index = offsetof(decltype(FakeMethod::const_method), name_index);
  fields.signature_index = offsetof(decltype(FakeMethod::const_method), signature_index);
  fields.const_method_bytes = sizeof(FakeMethod::const_method);
  fields.flags = offsetof(decltype(FakeMethod::const_method), flags);
  fields.has_lines = 4;
  fields.pool_holder = 0;
  fields.pool_length = offsetof(decltype(FakeMethod::pool), length);
  fields.pool_bytes = offsetof(decltype(FakeMethod::pool), entries);
  fields.klass_name = 0;
  fields.symbol_length = 0;
  fields.symbol_body = offsetof(Symbol, body);
  return vm;
}

} // namespace jprof::agent::sampling
