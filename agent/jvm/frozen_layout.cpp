// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/frozen_layout.h"

#include "agent/arch/arch.h"
#include "agent/arch/safe_load.h"
#include "agent/jvm/class_fields.h"
#include "agent/jvm/heap_layout.h"
#include "agent/jvm/struct_tables.h"
#include "agent/jvm/vm_flags.h"
#include "agent/sampling/code_cache.h"
#include "agent/sampling/name_store.h"

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr std::uint64_t kMaxClasses = 512; // that the JVM itself knows by name: 25 has 110
constexpr std::uint64_t kMaxMethods = 256; // Continuation has some forty
sampling::FrozenLayout g_layout;           // once known, valid for all sessions
bool g_known = false;

constexpr char kChunk[] = "Ljdk/internal/vm/StackChunk;";

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

// Whatever comes after the last of the classes may be anything.
bool can_read(std::uint64_t object, std::int32_t offset) {
  return object != 0 && (object & 7) == 0 && arch::is_readable(field(object, offset));
}

// The classes that the JVM itself knows, by name.
class KnownClasses {
 public:
  bool open(const StructTables& tables, const sampling::VmLayout& vm) {
    vm_ = &vm;
    first_ = tables.lowest_static("vmClasses"); // an array of all of them; the tables list some
    methods_ = tables.offset("InstanceKlass", "_methods");
    array_length_ = tables.offset("Array<int>", "_length");
    array_data_ = tables.offset("Array<Method*>", "_data");
    layout_helper_ = tables.offset("Klass", "_layout_helper");
    return first_ != 0 && layout_helper_ >= 0 && fields_.open(tables, vm);
  }
  // Its InstanceKlass; 0 if there is none of this name.
  std::uint64_t find(const char* name) const {
    for (std::uint64_t i = 0; i < kMaxClasses; ++i) {
      const std::uint64_t klass = word_at(first_ + i * 8);
      if (!can_read(klass, vm_->method.klass_name)) {
        continue;
      }
      const std::uint64_t symbol = word_at(field(klass, vm_->method.klass_name));
      if (can_read(symbol, vm_->method.symbol_length) && holds_symbol(*vm_, symbol, name)) {
        return klass;
      }
    }
    return 0;
  }
  // -1 if the class has no such field.
  std::int32_t offset_of(std::uint64_t klass, const char* name, const char* descriptor) const {
    return fields_.offset_of(klass, name, descriptor);
  }
  // 0 if the class has none of this name.
  std::uint64_t method_of(std::uint64_t klass, const char* name) const {
    if (klass == 0 || methods_ < 0 || array_data_ < 0) {
      return 0;
    }
    const std::uint64_t methods = word_at(field(klass, methods_));
    std::uint32_t count = 0;
    load(field(methods, array_length_), &count);
    for (std::uint64_t i = 0; i < count && i < kMaxMethods; ++i) {
      const std::uint64_t method = word_at(field(methods, array_data_) + i * 8);
      sampling::MethodView view;
      if (sampling::read_method(*vm_, method, &view) &&
          arch::holds_text(view.text.name.address, view.text.name.bytes, name)) {
        return method;
      }
    }
    return 0;
  }
  // Bytes of an object without what its class appends; 0 if unknown.
  std::uint64_t fixed_bytes(std::uint64_t klass) const {
    std::uint32_t helper = 0; // of an instance: its size, and flags below 8 (oops/klass.hpp)
    load(field(klass, layout_helper_), &helper);
    return klass != 0 && helper < 4096 ? helper & ~std::uint32_t{7} : 0;
  }

 private:
  const sampling::VmLayout* vm_ = nullptr;
  std::uint64_t first_ = 0;
  std::int32_t methods_ = -1;
  std::int32_t array_length_ = -1;
  std::int32_t array_data_ = -1;
  std::int32_t layout_helper_ = -1;
  ClassFields fields_;
};

// The code cache's heap that holds the JVM's stubs; null if unknown.
const sampling::CodeHeap* heap_of_stubs(const sampling::VmLayout& vm) {
  for (std::uint32_t i = 0; i < vm.heap_count; ++i) {
    if (vm.call_stub_return >= vm.heaps[i].begin && vm.call_stub_return < vm.heaps[i].end) {
      return &vm.heaps[i];
    }
  }
  return nullptr;
}

// FrozenLayout::entry, which is in no table, from the code that brings frozen frames back; -1 if
// that is not found. The JVM makes that code at its start, so it is among the first.
std::int32_t read_entry_offset(const sampling::VmLayout& vm) {
  constexpr unsigned kMaxSteps = 4096;
  const sampling::CodeHeap* heap = heap_of_stubs(vm);
  std::uint64_t at = heap != nullptr ? heap->begin : 0;
  for (unsigned i = 0; heap != nullptr && i < kMaxSteps && at < heap->end; ++i) {
    const std::uint64_t segment = std::uint64_t{1} << heap->log2_segment;
    sampling::CodeBlob blob;
    if (!find_blob(vm, at, &blob) || blob.end <= at) {
      at += segment;
      continue;
    }
    if (sampling::is_thaw_stub(blob)) {
      return arch::entry_offset_in_thaw_stub(blob.code_begin, blob.end);
    }
    at = heap->begin + ((blob.end - heap->begin + segment - 1) & ~(segment - 1));
  }
  return -1;
}

// False if this JVM has none.
bool read_layout_of(const sampling::VmLayout& vm, sampling::FrozenLayout* layout) {
  StructTables tables;
  KnownClasses classes;
  if (!tables.open()) {
    return false;
  }
  sampling::FrozenLayout found;
  found.virtual_thread = tables.offset("JavaThread", "_vthread"); // 21+
  if (found.virtual_thread < 0 || !classes.open(tables, vm) ||
      !read_heap_clock(tables, &found.clock)) {
    return false;
  }
  found.references = read_references(tables, VmFlags(tables), vm.java_feature);
  const std::uint64_t thread = classes.find("java/lang/VirtualThread");
  const std::uint64_t continuation = classes.find("jdk/internal/vm/Continuation");
  const std::uint64_t chunk = classes.find("jdk/internal/vm/StackChunk");
  found.continuation = classes.offset_of(thread, "cont", "Ljdk/internal/vm/Continuation;");
  found.tail = classes.offset_of(continuation, "tail", kChunk);
  found.entry_method = classes.method_of(continuation, "enterSpecial");
  found.parent = classes.offset_of(chunk, "parent", kChunk);
  found.size = classes.offset_of(chunk, "size", "I");
  found.sp = classes.offset_of(chunk, "sp", "I");
  found.bottom = classes.offset_of(chunk, "bottom", "I");
  found.argument_words = classes.offset_of(chunk, "argsize", "I");
  found.stack = classes.fixed_bytes(chunk);
  found.entry = read_entry_offset(vm);
  const bool whole = found.continuation >= 0 && found.tail >= 0 && found.parent >= 0 &&
                     found.size >= 0 && found.sp >= 0 && found.stack != 0 &&
                     (found.bottom >= 0 || found.argument_words >= 0);
  if (whole) {
    *layout = found;
  }
  return whole;
}

} // namespace

const sampling::FrozenLayout* read_frozen_layout(const sampling::VmLayout& vm) {
  g_known = g_known || read_layout_of(vm, &g_layout);
  return g_known ? &g_layout : nullptr;
}

} // namespace jprof::agent::jvm
