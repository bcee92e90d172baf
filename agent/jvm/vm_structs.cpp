// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/vm_structs.h"

#include "agent/arch/arch.h"
#include "agent/jvm/struct_tables.h"
#include "agent/os/modules.h"

namespace jprof::agent::jvm {
namespace {

using sampling::VmLayout;

template <typename T>
T value_at(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

// Notes what is missing, so that the refusal of a JVM can name it.
class Reader {
 public:
  explicit Reader(const StructTables& tables) : tables_(tables) {}

  std::int32_t required(const char* type, const char* field) {
    const std::int32_t offset = tables_.offset(type, field);
    if (offset < 0) {
      require(false, field);
    }
    return offset;
  }
  std::int32_t optional(const char* type, const char* field) const {
    return tables_.offset(type, field);
  }
  // In one of two types: for fields that HotSpot has moved between a class and its base.
  std::int32_t either(const char* type, const char* other, const char* field) {
    const std::int32_t offset = tables_.offset(type, field);
    return offset >= 0 ? offset : required(other, field);
  }
  void require(bool present, const char* what) {
    if (!present && missing_ == nullptr) {
      missing_ = what;
    }
  }
  const char* missing() const { return missing_; }
  const StructTables& tables() const { return tables_; }

 private:
  const StructTables& tables_;
  const char* missing_ = nullptr;
};

void add_heap(VmLayout& vm, Reader& reader, std::uint64_t heap) {
  if (heap == 0 || vm.heap_count == sampling::kMaxCodeHeaps) {
    return;
  }
  const auto memory = static_cast<std::uint64_t>(reader.required("CodeHeap", "_memory"));
  const auto segments = static_cast<std::uint64_t>(reader.required("CodeHeap", "_segmap"));
  const auto log2 = static_cast<std::uint64_t>(reader.required("CodeHeap", "_log2_segment_size"));
  const auto low = static_cast<std::uint64_t>(reader.required("VirtualSpace", "_low"));
  const auto high = static_cast<std::uint64_t>(reader.required("VirtualSpace", "_high_boundary"));
  if (reader.missing() != nullptr) {
    return;
  }
  auto& entry = vm.heaps[vm.heap_count++];
  entry.begin = value_at<std::uint64_t>(heap + memory + low);
  entry.end = value_at<std::uint64_t>(heap + memory + high);
  entry.segment_map = value_at<std::uint64_t>(heap + segments + low);
  entry.log2_segment = value_at<std::uint32_t>(heap + log2);
  vm.code_low = vm.code_low == 0 || entry.begin < vm.code_low ? entry.begin : vm.code_low;
  vm.code_high = entry.end > vm.code_high ? entry.end : vm.code_high;
}

void read_code_heaps(VmLayout& vm, Reader& reader) {
  const StructTables& tables = reader.tables();
  if (const std::uint64_t single = tables.static_address("CodeCache", "_heap"); single != 0) { // 8
    add_heap(vm, reader, value_at<std::uint64_t>(single));
  } else {
    const std::uint64_t heaps = tables.static_address("CodeCache", "_heaps"); // 9+
    // GrowableArray<CodeHeap*>: its base class was renamed in 17; all instances have the same
    // layout.
    const std::int32_t length = tables.offset("GenericGrowableArray", "_len") >= 0
                                    ? tables.offset("GenericGrowableArray", "_len")
                                    : reader.required("GrowableArrayBase", "_len");
    const std::int32_t data = reader.required("GrowableArray<int>", "_data");
    reader.require(heaps != 0, "CodeCache::_heaps");
    if (reader.missing() != nullptr) {
      return;
    }
    const auto array = value_at<std::uint64_t>(heaps);
    const auto count = value_at<std::uint32_t>(array + static_cast<std::uint64_t>(length));
    const auto elements = value_at<std::uint64_t>(array + static_cast<std::uint64_t>(data));
    for (std::uint32_t i = 0; i < count; ++i) {
      add_heap(vm, reader, value_at<std::uint64_t>(elements + std::uint64_t{i} * 8));
    }
  }
  vm.heap_block_bytes = static_cast<std::uint32_t>(tables.type_size("HeapBlock"));
  vm.heap_block_used = tables.int_field("HeapBlock::Header", "_used");
  reader.require(vm.heap_count != 0, "code heaps");
  reader.require(vm.heap_block_bytes != 0, "HeapBlock");
  reader.require(vm.heap_block_used.offset >= 0, "HeapBlock::Header::_used");
}

void read_blob_layout(VmLayout& vm, Reader& reader) {
  const StructTables& tables = reader.tables();
  auto& blob = vm.blob;
  blob.name = reader.required("CodeBlob", "_name");
  blob.size = reader.required("CodeBlob", "_size");
  blob.frame_size = reader.required("CodeBlob", "_frame_size");
  blob.frame_complete = tables.int_field("CodeBlob", "_frame_complete_offset");
  blob.code_begin = reader.optional("CodeBlob", "_code_begin");
  blob.code_end = reader.optional("CodeBlob", "_code_end");
  blob.code_offset = blob.code_begin >= 0 ? -1 : reader.required("CodeBlob", "_code_offset");
  blob.data_offset = tables.int_field("CodeBlob", "_data_offset");
  blob.mutable_data = reader.optional("CodeBlob", "_mutable_data");
  blob.relocation_size = reader.optional("CodeBlob", "_relocation_size");
}

// Offset of a field that is an int, as the JVM itself declares it; -1 if there is none.
std::int32_t int_offset(const StructTables& tables, const char* type, const char* field) {
  const char* declared = tables.declared_type(type, field);
  return declared != nullptr && os::equal(declared, "int") ? tables.offset(type, field) : -1;
}

void read_compiled_layout(VmLayout& vm, Reader& reader) {
  const StructTables& tables = reader.tables();
  auto& compiled = vm.compiled;
  compiled.method = reader.either("CompiledMethod", "nmethod", "_method");
  compiled.comp_level = tables.int_field("nmethod", "_comp_level");
  compiled.compile_id = int_offset(tables, "nmethod", "_compile_id");
  compiled.immutable_data = reader.optional("nmethod", "_immutable_data");
  compiled.scopes_data_begin = reader.optional("CompiledMethod", "_scopes_data_begin");
  if (compiled.scopes_data_begin < 0) {
    compiled.scopes_data_offset = reader.required("nmethod", "_scopes_data_offset");
  }
  compiled.scopes_pcs_offset = reader.required("nmethod", "_scopes_pcs_offset");
  // The pc descriptions are followed by the dependencies (8 to 22) or the scopes (23+).
  compiled.scopes_pcs_end_offset = compiled.immutable_data >= 0
                                       ? compiled.scopes_data_offset
                                       : reader.required("nmethod", "_dependencies_offset");
  compiled.metadata_offset = tables.int_field("nmethod", "_metadata_offset");
  compiled.metadata_in_mutable_data = compiled.metadata_offset.offset < 0;
  if (compiled.metadata_in_mutable_data) {
    reader.require(vm.blob.mutable_data >= 0 && vm.blob.relocation_size >= 0,
                   "nmethod::_metadata_offset");
  }
  compiled.deopt_handler = reader.optional("CompiledMethod", "_deopt_handler_begin");
  compiled.deopt_mh_handler = reader.optional("CompiledMethod", "_deopt_mh_handler_begin");
  compiled.deopt_handler_offset = reader.optional("nmethod", "_deopt_handler_offset");
  compiled.deopt_mh_handler_offset = reader.optional("nmethod", "_deopt_mh_handler_offset");
  if (compiled.deopt_handler < 0 && compiled.deopt_handler_offset < 0) { // 8
    compiled.deopt_handler_offset = reader.required("nmethod", "_deoptimize_offset");
    compiled.deopt_mh_handler_offset = reader.optional("nmethod", "_deoptimize_mh_offset");
  }
  compiled.orig_pc_offset = reader.required("nmethod", "_orig_pc_offset");
}

void read_method_layout(VmLayout& vm, Reader& reader) {
  const StructTables& tables = reader.tables();
  auto& method = vm.method;
  method.const_method = reader.required("Method", "_constMethod");
  method.access_flags = reader.required("Method", "_access_flags");
  method.constants = reader.required("ConstMethod", "_constants");
  method.code_size = reader.required("ConstMethod", "_code_size");
  method.name_index = reader.required("ConstMethod", "_name_index");
  method.signature_index = reader.required("ConstMethod", "_signature_index");
  method.const_method_bytes = static_cast<std::int32_t>(tables.type_size("ConstMethod"));
  method.flags = tables.offset("ConstMethod", "_flags") >= 0
                     ? tables.offset("ConstMethod", "_flags") // 8 to 20
                     : reader.optional("ConstMethod", "_flags._flags");
  std::int32_t has_lines = 0;
  if (tables.int_constant("ConstMethod::_has_linenumber_table", &has_lines) || // 8 to 20
      tables.int_constant("ConstMethodFlags::_misc_has_linenumber_table", &has_lines)) {
    method.has_lines = static_cast<std::uint16_t>(has_lines);
  }
  method.pool_holder = reader.required("ConstantPool", "_pool_holder");
  method.pool_length = reader.required("ConstantPool", "_length");
  method.pool_bytes = static_cast<std::int32_t>(tables.type_size("ConstantPool"));
  method.klass_name = reader.required("Klass", "_name");
  method.symbol_length = reader.required("Symbol", "_length");
  method.symbol_body = reader.required("Symbol", "_body");
  reader.require(method.const_method_bytes != 0, "ConstMethod");
  reader.require(method.pool_bytes != 0, "ConstantPool");
}

void read_thread_layout(VmLayout& vm, Reader& reader) {
  const StructTables& tables = reader.tables();
  const std::int32_t anchor = reader.required("JavaThread", "_anchor");
  const std::int32_t sp = reader.required("JavaFrameAnchor", "_last_Java_sp");
  const std::int32_t pc = reader.required("JavaFrameAnchor", "_last_Java_pc");
  const std::int32_t fp = reader.required("JavaFrameAnchor", "_last_Java_fp");
  auto& thread = vm.thread;
  thread.anchor_sp = anchor + sp;
  thread.anchor_pc = anchor + pc;
  thread.anchor_fp = anchor + fp;
  thread.stack_base = reader.either("JavaThread", "Thread", "_stack_base");
  thread.stack_size = reader.either("JavaThread", "Thread", "_stack_size");
  thread.state = reader.required("JavaThread", "_thread_state");
  thread.os_thread = reader.either("JavaThread", "Thread", "_osthread");
  thread.os_thread_id = reader.required("OSThread", "_thread_id");
  thread.bytes = tables.type_size("JavaThread");
  vm.wrapper_anchor = reader.required("JavaCallWrapper", "_anchor");
  vm.anchor_in_wrapper_sp = sp;
  vm.anchor_in_wrapper_pc = pc;
  vm.anchor_in_wrapper_fp = fp;
  reader.require(thread.bytes != 0, "JavaThread");
  vm.entry_wrapper_words = arch::kCallWrapperWords;
  tables.int_constant("frame::entry_frame_call_wrapper_offset", &vm.entry_wrapper_words);
  const std::uint64_t call_stub =
      tables.static_address("StubRoutines", "_call_stub_return_address");
  reader.require(call_stub != 0, "StubRoutines::_call_stub_return_address");
  vm.call_stub_return = call_stub != 0 ? value_at<std::uint64_t>(call_stub) : 0;
}

// The feature release of a version such as "17.0.9+9".
std::uint32_t java_feature(const char* release) {
  std::uint32_t major = 0;
  for (const char* c = release; *c >= '0' && *c <= '9'; ++c) {
    major = major * 10 + static_cast<std::uint32_t>(*c - '0');
  }
  return major;
}

const char* release_text(const StructTables& tables) {
  const std::uint64_t field = tables.static_address("Abstract_VM_Version", "_s_vm_release");
  return field != 0 ? value_at<const char*>(field) : "";
}

} // namespace

LayoutError read_layout(VmLayout* layout, const char** missing) {
  StructTables tables;
  if (!tables.open()) {
    return LayoutError::kNoTables;
  }
  Reader reader(tables);
  VmLayout& vm = *layout;
  // JDK 8 alone has a code cache of a single heap; it numbers HotSpot separately ("25.504-b01").
  const bool is_8 = tables.static_address("CodeCache", "_heap") != 0;
  vm.java_feature = is_8 ? 8 : java_feature(release_text(tables));
  vm.number_bias = vm.java_feature >= 20 ? 1 : 0; // JDK-8292758
  read_code_heaps(vm, reader);
  read_blob_layout(vm, reader);
  read_compiled_layout(vm, reader);
  read_method_layout(vm, reader);
  read_thread_layout(vm, reader);
  *missing = reader.missing();
  return reader.missing() == nullptr ? LayoutError::kNone : LayoutError::kMissingField;
}

void read_vm_version(char* to, std::size_t bytes) {
  StructTables tables;
  const char* text = tables.open() ? release_text(tables) : "";
  std::size_t i = 0;
  for (; i + 1 < bytes && text[i] != 0; ++i) {
    to[i] = text[i];
  }
  to[i] = 0;
}

} // namespace jprof::agent::jvm
