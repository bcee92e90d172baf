// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/thread_objects.h"

#include "agent/arch/safe_load.h"
#include "agent/jvm/class_fields.h"
#include "agent/jvm/heap_layout.h"
#include "agent/jvm/vm_flags.h"
#include "agent/os/modules.h"

#include <atomic>

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr std::size_t kKernelNameBytes = 15;
constexpr std::size_t kMaxUnits = kMaxJavaNameBytes;
constexpr std::uint8_t kLatin1 = 0; // String.LATIN1

std::uint64_t field(std::uint64_t object, std::int32_t offset) {
  return object + static_cast<std::uint64_t>(offset);
}

std::uint64_t align_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

std::uint64_t well_known_class(const StructTables& tables, const char* old_field,
                               const char* new_field) {
  std::uint64_t at = tables.static_address("SystemDictionary", old_field); // 8 to 15
  at = at != 0 ? at : tables.static_address("vmClasses", new_field);       // 16+
  return at != 0 ? word_at(at) : 0;
}

// Appends one character; false if it does not fit.
bool put_utf8(std::uint32_t code, char* to, std::size_t room, std::size_t* at) {
  const std::size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (*at + bytes > room) {
    return false;
  }
  if (bytes == 1) {
    to[(*at)++] = static_cast<char>(code);
    return true;
  }
  constexpr std::uint32_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uint32_t part = code >> (6 * (bytes - 1 - i));
    to[(*at)++] = static_cast<char>(i == 0 ? kLead[bytes] | part : 0x80 | (part & 0x3f));
  }
  return true;
}

} // namespace

bool ThreadObjects::open(const sampling::VmLayout& vm) {
  *this = ThreadObjects{};
  vm_ = &vm;
  StructTables tables;
  ClassFields fields;
  if (!tables.open() || !fields.open(tables, vm)) {
    return false;
  }
  read_flags(tables);
  const char* type = tables.declared_type("JavaThread", "_threadObj");
  thread_object_ = tables.offset("JavaThread", "_threadObj");
  thread_is_handle_ = type != nullptr && os::equal(type, "OopHandle");
  const std::uint64_t thread =
      well_known_class(tables, "_well_known_klasses[SystemDictionary::Thread_klass_knum]",
                       "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]");
  const std::uint64_t string =
      well_known_class(tables, "_well_known_klasses[SystemDictionary::String_klass_knum]",
                       "_klasses[static_cast<int>(vmClassID::String_klass_knum)]");
  id_ = fields.offset_of(thread, "tid", "J");
  name_ = fields.offset_of(thread, "name", "Ljava/lang/String;");
  const bool is_8 = vm.java_feature == 8;
  value_ = fields.offset_of(string, "value", is_8 ? "[C" : "[B");
  coder_ = fields.offset_of(string, "coder", "B");
  const bool text_is_known = value_ >= 0 && (is_8 || coder_ >= 0);
  return thread_object_ >= 0 && id_ >= 0 && name_ >= 0 && text_is_known &&
         read_heap_clock(tables, &clock_);
}

void ThreadObjects::read_flags(const StructTables& tables) {
  const VmFlags flags(tables);
  references_ = read_references(tables, flags, vm_->java_feature);
  heap_ = flags.is_on("UseZGC") || flags.is_on("UseShenandoahGC") ? Heap::kMovesBeside
                                                                  : Heap::kStopsToMove;
  // An array: mark word, class, length, elements. Compact headers hold the class in the mark.
  const bool compact = flags.is_on("UseCompactObjectHeaders");
  const bool narrow_class = compact || flags.is_on("UseCompressedClassPointers");
  array_length_ = compact ? 8 : narrow_class ? 12 : 16;
  // Since 23, elements begin right after the length (JDK-8139457); before that, at a full word.
  array_data_ = vm_->java_feature >= 23 ? array_length_ + 4 : align_up(array_length_ + 4, 8);
}

bool ThreadObjects::is_thread_of(std::uint64_t java_thread, std::int32_t tid) const {
  const auto& thread = vm_->thread;
  const std::uint64_t os_thread = word_at(field(java_thread, thread.os_thread));
  std::uint32_t id = 0;
  return word_at(field(java_thread, vm_->env_offset)) == vm_->jni_functions && os_thread != 0 &&
         load(field(os_thread, thread.os_thread_id), &id) && static_cast<std::int32_t>(id) == tid;
}

ThreadObjects::Path ThreadObjects::path_from(std::uint64_t java_thread) const {
  Path path;
  std::uint64_t raw = word_at(field(java_thread, thread_object_));
  raw = thread_is_handle_ && raw != 0 ? word_at(raw) : raw;
  path.thread = references_.decode(raw);
  path.name = references_.at(path.thread, name_);
  path.text = references_.at(path.name, value_);
  return path;
}

bool ThreadObjects::read_name(const Path& path, JavaText* name) const {
  std::uint8_t coder = 1;
  std::uint32_t length = 0;
  if (path.text == 0 || (path.text & 7) != 0 || !load(path.text + array_length_, &length) ||
      (coder_ >= 0 && !load(field(path.name, coder_), &coder)) || coder > 1) {
    return false;
  }
  const bool latin1 = coder == kLatin1;
  const std::size_t units = latin1 || coder_ < 0 ? length : length / 2;
  name->whole = units <= kMaxUnits;
  name->count = name->whole ? units : kMaxUnits;
  const std::uint64_t text = path.text + array_data_;
  if (!latin1) {
    return arch::copy(name->units, text, name->count * 2);
  }
  std::uint8_t bytes[kMaxUnits];
  if (!arch::copy(bytes, text, name->count)) {
    return false;
  }
  for (std::size_t i = 0; i < name->count; ++i) {
    name->units[i] = bytes[i];
  }
  return true;
}

bool ThreadObjects::read(std::uint64_t java_thread, std::int32_t tid, const char* kernel_name,
                         std::size_t kernel_name_bytes, ThreadIdentity* identity) const {
  const std::uint64_t before = clock_.now();
  const bool moving = heap_ == Heap::kStopsToMove && before == sampling::HeapClock::kCollecting;
  if (moving || !is_thread_of(java_thread, tid)) {
    return false;
  }
  const Path path = path_from(java_thread);
  JavaText name;
  if (!read_name(path, &name) || name.count == 0 ||
      !load(field(path.thread, id_), &identity->java_id)) {
    return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!(path_from(java_thread) == path) || !is_thread_of(java_thread, tid)) {
    return false;
  }
  identity->name_bytes = to_utf8(name, identity->name, sizeof identity->name);
  return heap_ == Heap::kStopsToMove
             ? clock_.now() == before
             : is_first_thread(name, identity->java_id, vm_->java_feature) ||
                   kernel_name_fits(name, kernel_name, kernel_name_bytes);
}

bool is_first_thread(const JavaText& name, std::uint64_t java_id, std::uint32_t java_feature) {
  const std::uint64_t first = java_feature >= 24 ? 3 : 1;
  constexpr char kMain[] = "main";
  constexpr std::size_t kUnits = sizeof kMain - 1;
  bool same = java_id == first && name.whole && name.count == kUnits;
  for (std::size_t i = 0; same && i < kUnits; ++i) {
    same = name.units[i] == static_cast<std::uint16_t>(kMain[i]);
  }
  return same;
}

bool kernel_name_fits(const JavaText& name, const char* kernel, std::size_t kernel_bytes) {
  char text[kMaxUnits * 3];
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < name.count; ++i) {
    put_utf8(name.units[i], text, sizeof text, &bytes); // surrogates one by one
  }
  if (name.whole && bytes <= kKernelNameBytes) {
    return kernel_bytes == bytes && __builtin_memcmp(text, kernel, bytes) == 0;
  }
  if (kernel_bytes != kKernelNameBytes) {
    return false;
  }
  const bool tail_fits = !name.whole || __builtin_memcmp(kernel + 9, text + bytes - 6, 6) == 0;
  const bool shortened =
      __builtin_memcmp(kernel, text, 7) == 0 && kernel[7] == '.' && kernel[8] == '.' && tail_fits;
  return shortened || __builtin_memcmp(kernel, text, kKernelNameBytes) == 0;
}

std::size_t to_utf8(const JavaText& text, char* to, std::size_t room) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < text.count; ++i) {
    std::uint32_t code = text.units[i];
    const std::uint32_t next = i + 1 < text.count ? text.units[i + 1] : 0U;
    if (code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
      ++i;
    } else if (code >= 0xd800 && code < 0xe000) {
      code = 0xfffd;
    }
    if (!put_utf8(code, to, room, &at)) {
      break;
    }
  }
  return at;
}

} // namespace jprof::agent::jvm
