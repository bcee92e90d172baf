// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/frozen_layout.h"

#include "agent/arch/safe_load.h"
#include "agent/jvm/class_fields.h"
#include "agent/jvm/heap_layout.h"
#include "agent/jvm/struct_tables.h"
#include "agent/jvm/vm_flags.h"
#include "agent/sampling/name_store.h"

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr unsigned kMostSupers = 8;
constexpr std::uint64_t kMostMethods = 256; // Continuation has some forty
constexpr char kChunk[] = "Ljdk/internal/vm/StackChunk;";

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

// What the classes have that objects turn out to be of.
class ObjectClasses {
 public:
  bool open(const StructTables& tables, const VmFlags& flags, const sampling::VmLayout& vm) {
    vm_ = &vm;
    super_ = tables.offset("Klass", "_super");
    methods_ = tables.offset("InstanceKlass", "_methods");
    array_length_ = tables.offset("Array<int>", "_length");
    array_data_ = tables.offset("Array<Method*>", "_data");
    layout_helper_ = tables.offset("Klass", "_layout_helper");
    return super_ >= 0 && layout_helper_ >= 0 && classes_.open(tables, flags) &&
           fields_.open(tables, vm);
  }
  // -1 if the object's class and those above it have no such field.
  std::int32_t offset_of(std::uint64_t object, const char* name, const char* descriptor) const {
    return first_upwards(object, std::int32_t{-1}, [&](std::uint64_t klass) {
      return fields_.offset_of(klass, name, descriptor);
    });
  }
  // The method of this name in the object's class or one above it; 0 if there is none.
  std::uint64_t method_of(std::uint64_t object, const char* name) const {
    return first_upwards(object, std::uint64_t{0},
                         [&](std::uint64_t klass) { return method_in(klass, name); });
  }
  // Bytes of an object without what its class appends; 0 if unknown.
  std::uint64_t fixed_bytes(std::uint64_t object) const {
    std::uint32_t helper = 0; // of an instance: its size, and flags below 8 (oops/klass.hpp)
    load(field(classes_.class_of(object), layout_helper_), &helper);
    return helper < 4096 ? helper & ~std::uint32_t{7} : 0;
  }

 private:
  // What `find` says of the object's class, or of the first above it of which it does not say
  // `none`.
  template <typename Found, typename Find>
  Found first_upwards(std::uint64_t object, Found none, Find&& find) const {
    std::uint64_t klass = classes_.class_of(object);
    for (unsigned i = 0; i < kMostSupers && klass != 0; ++i) {
      if (const Found found = find(klass); found != none) {
        return found;
      }
      klass = word_at(field(klass, super_));
    }
    return none;
  }
  std::uint64_t method_in(std::uint64_t klass, const char* name) const {
    if (methods_ < 0 || array_data_ < 0) {
      return 0;
    }
    const std::uint64_t methods = word_at(field(klass, methods_));
    std::uint32_t count = 0;
    load(field(methods, array_length_), &count);
    for (std::uint64_t i = 0; i < count && i < kMostMethods; ++i) {
      const std::uint64_t method = word_at(field(methods, array_data_) + i * 8);
      sampling::MethodView view;
      if (sampling::read_method(*vm_, method, &view) &&
          arch::holds_text(view.text.name.address, view.text.name.bytes, name)) {
        return method;
      }
    }
    return 0;
  }

  const sampling::VmLayout* vm_ = nullptr;
  std::int32_t methods_ = -1;
  std::int32_t array_length_ = -1;
  std::int32_t array_data_ = -1;
  std::int32_t super_ = -1;
  std::int32_t layout_helper_ = -1;
  ClassWords classes_;
  ClassFields fields_;
};

} // namespace

bool read_frozen_layout(const sampling::VmLayout& vm, std::uint64_t java_thread,
                        sampling::FrozenLayout* layout) {
  StructTables tables;
  ObjectClasses classes;
  if (!tables.open()) {
    return false;
  }
  sampling::FrozenLayout found;
  found.virtual_thread = tables.offset("JavaThread", "_vthread"); // 21+
  const VmFlags flags(tables);
  if (found.virtual_thread < 0 || !classes.open(tables, flags, vm)) {
    return false;
  }
  if (!read_heap_clock(tables, &found.clock)) {
    return false;
  }
  found.references = read_references(tables, flags, vm.java_feature);
  const std::uint64_t handle = word_at(field(java_thread, found.virtual_thread));
  const std::uint64_t thread = handle != 0 ? found.references.decode(word_at(handle)) : 0;
  found.continuation = classes.offset_of(thread, "cont", "Ljdk/internal/vm/Continuation;");
  if (found.continuation < 0) {
    return false;
  }
  const std::uint64_t continuation = found.references.at(thread, found.continuation);
  found.tail = classes.offset_of(continuation, "tail", kChunk);
  if (found.tail < 0) {
    return false;
  }
  const std::uint64_t chunk = found.references.at(continuation, found.tail);
  found.entry_method = classes.method_of(continuation, "enterSpecial");
  found.parent = classes.offset_of(chunk, "parent", kChunk);
  found.size = classes.offset_of(chunk, "size", "I");
  found.sp = classes.offset_of(chunk, "sp", "I");
  found.bottom = classes.offset_of(chunk, "bottom", "I");
  found.argument_words = classes.offset_of(chunk, "argsize", "I");
  found.stack = classes.fixed_bytes(chunk);
  const bool whole = found.parent >= 0 && found.size >= 0 && found.sp >= 0 && found.stack != 0 &&
                     (found.bottom >= 0 || found.argument_words >= 0);
  if (whole) {
    *layout = found;
  }
  return whole;
}

} // namespace jprof::agent::jvm
