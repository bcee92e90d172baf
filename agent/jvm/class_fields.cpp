// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/class_fields.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr std::uint32_t kMaxFields = 256; // java.lang.Thread has about thirty
// A tuple of oops/fieldInfo.hpp, 8 to 20, in u2.
constexpr std::uint64_t kTupleWords = 6;
constexpr std::uint64_t kTupleName = 1;
constexpr std::uint64_t kTupleDescriptor = 2;
constexpr std::uint64_t kTupleLow = 4;
constexpr std::uint64_t kTupleHigh = 5;
constexpr std::uint32_t kTupleTagBits = 2; // FIELDINFO_TAG_SIZE
// Optional parts of a field in the stream, 21+: FieldInfo::FieldFlags.
// initialised, generic, in a contention group.
constexpr std::uint32_t kOptionalParts[] = {1U << 0, 1U << 2, 1U << 4};
constexpr std::uint32_t kAccStatic = 0x0008; // JVMS 4.5

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

std::uint32_t half(std::uint64_t address) {
  std::uint16_t value = 0;
  load(address, &value);
  return value;
}

// Numbers of the UNSIGNED5 code (utilities/unsigned5.hpp of 20+: no byte is zero).
class NumberStream {
 public:
  NumberStream(std::uint64_t begin, std::uint64_t end) : at_(begin), end_(end) {}
  bool ok() const { return ok_; }
  std::uint32_t next() {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 5; ++i) {
      std::uint8_t byte = 0;
      if (at_ >= end_ || !load(at_, &byte) || byte == 0) {
        ok_ = false;
        return 0;
      }
      ++at_;
      sum += (byte - 1U) << (6 * i);
      if (byte < 192) {
        break;
      }
    }
    return sum;
  }

 private:
  std::uint64_t at_;
  std::uint64_t end_;
  bool ok_ = true;
};

} // namespace

bool ClassFields::open(const StructTables& tables, const sampling::VmLayout& vm) {
  vm_ = &vm;
  constants_ = tables.offset("InstanceKlass", "_constants");
  fields_ = tables.offset("InstanceKlass", "_fields");
  fields_count_ = tables.offset("InstanceKlass", "_java_fields_count");
  stream_ = tables.offset("InstanceKlass", "_fieldinfo_stream");
  const std::int32_t length = tables.offset("Array<int>", "_length");
  const std::int32_t data = tables.offset(stream_ >= 0 ? "Array<u1>" : "Array<u2>", "_data");
  array_length_ = static_cast<std::uint64_t>(length);
  array_data_ = static_cast<std::uint64_t>(data);
  return constants_ >= 0 && length >= 0 && data >= 0 &&
         (stream_ >= 0 || (fields_ >= 0 && fields_count_ >= 0));
}

std::int32_t ClassFields::offset_of(std::uint64_t klass, const char* name,
                                    const char* descriptor) const {
  const std::uint64_t pool = klass != 0 ? word_at(field(klass, constants_)) : 0;
  if (pool == 0) {
    return -1;
  }
  return stream_ >= 0 ? in_stream(klass, pool, name, descriptor)
                      : in_tuples(klass, pool, name, descriptor);
}

std::int32_t ClassFields::in_tuples(std::uint64_t klass, std::uint64_t pool, const char* name,
                                    const char* descriptor) const {
  const std::uint64_t array = word_at(field(klass, fields_));
  const std::uint32_t count = half(field(klass, fields_count_));
  if (array == 0 || count > kMaxFields) {
    return -1;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t tuple = array + array_data_ + i * kTupleWords * 2;
    if ((half(tuple) & kAccStatic) == 0 && is_symbol(pool, half(tuple + kTupleName * 2), name) &&
        is_symbol(pool, half(tuple + kTupleDescriptor * 2), descriptor)) {
      const std::uint32_t packed = half(tuple + kTupleHigh * 2) << 16 | half(tuple + kTupleLow * 2);
      return static_cast<std::int32_t>(packed >> kTupleTagBits);
    }
  }
  return -1;
}

std::int32_t ClassFields::in_stream(std::uint64_t klass, std::uint64_t pool, const char* name,
                                    const char* descriptor) const {
  const std::uint64_t array = word_at(field(klass, stream_));
  std::uint32_t bytes = 0;
  if (array == 0 || !load(array + array_length_, &bytes)) {
    return -1;
  }
  NumberStream in(array + array_data_, array + array_data_ + bytes);
  const std::uint32_t count = in.next();
  in.next(); // injected fields follow the Java ones
  for (std::uint32_t i = 0; i < count && i < kMaxFields && in.ok(); ++i) {
    const std::uint32_t name_index = in.next();
    const std::uint32_t descriptor_index = in.next();
    const std::uint32_t offset = in.next();
    const std::uint32_t access = in.next();
    const std::uint32_t flags = in.next();
    for (const std::uint32_t part : kOptionalParts) {
      if ((flags & part) != 0) {
        in.next();
      }
    }
    if (in.ok() && (access & kAccStatic) == 0 && is_symbol(pool, name_index, name) &&
        is_symbol(pool, descriptor_index, descriptor)) {
      return static_cast<std::int32_t>(offset);
    }
  }
  return -1;
}

bool holds_symbol(const sampling::VmLayout& vm, std::uint64_t symbol, const char* text) {
  std::uint16_t length = 0;
  return symbol != 0 && (symbol & 7) == 0 &&
         load(field(symbol, vm.method.symbol_length), &length) &&
         arch::holds_text(field(symbol, vm.method.symbol_body), length, text);
}

bool ClassFields::is_symbol(std::uint64_t pool, std::uint32_t index, const char* text) const {
  const auto& layout = vm_->method;
  std::uint32_t pool_length = 0;
  const std::uint64_t symbol = word_at(field(pool, layout.pool_bytes) + std::uint64_t{index} * 8);
  return load(field(pool, layout.pool_length), &pool_length) && index != 0 && index < pool_length &&
         holds_symbol(*vm_, symbol, text);
}

} // namespace jprof::agent::jvm
