// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where this JVM keeps what the stack walker reads. Filled once by jvm/vm_structs.cpp from the
// tables that libjvm exports for its own debugger (gHotSpotVMStructs and related variables), then
// only read, by signal handlers. An offset of -1 means that this JVM has no such field.

#include "agent/sampling/stub_names.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::sampling {

// An integer field whose width differs between releases.
struct IntField {
  std::int32_t offset = -1;
  std::uint8_t bytes = 4;
  bool is_signed = true;
};

inline constexpr std::size_t kMaxCodeHeaps = 8;

// One reserved range of the code cache with its segment map (code/codeHeap: a byte per segment says
// how many segments to step back; 255 is free).
struct CodeHeap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; // reserved
  std::uint64_t segment_map = 0;
  std::uint32_t log2_segment = 0;
};

struct CodeBlobLayout {
  std::int32_t name = -1;
  std::int32_t size = -1;
  std::int32_t frame_size = -1; // in words
  IntField frame_complete;
  std::int32_t code_begin = -1;  // address (9 to 22)
  std::int32_t code_offset = -1; // or offset from the blob (8, 23+)
  std::int32_t code_end = -1;    // address (9 to 22)
  IntField data_offset;
  std::int32_t mutable_data = -1;    // 25+
  std::int32_t relocation_size = -1; // 25+
};

struct CompiledMethodLayout {
  std::int32_t method = -1;
  IntField comp_level;
  std::int32_t compile_id = -1;         // int, unique in the life of a JVM
  std::int32_t scopes_data_begin = -1;  // address (9 to 22)
  std::int32_t scopes_data_offset = -1; // or offset (8, 23+)
  std::int32_t scopes_pcs_offset = -1;
  std::int32_t scopes_pcs_end_offset = -1; // the section that follows the pc descriptions
  std::int32_t immutable_data = -1;        // 23+: base of the two offsets above
  std::int32_t immutable_data_size = -1;
  IntField metadata_offset;              // from the blob (8 to 22) or from its data (23, 24)
  bool metadata_in_mutable_data = false; // 25+: behind the relocations
  std::int32_t deopt_handler = -1;       // address (9 to 22)
  std::int32_t deopt_handler_offset = -1;
  std::int32_t deopt_mh_handler = -1;
  std::int32_t deopt_mh_handler_offset = -1;
  std::int32_t orig_pc_offset = -1;
};

struct MethodLayout {
  std::int32_t const_method = -1;
  std::int32_t access_flags = -1;
  std::int32_t constants = -1; // in ConstMethod, as are all below
  std::int32_t code_size = -1;
  std::int32_t name_index = -1;
  std::int32_t signature_index = -1;
  std::int32_t const_method_bytes = 0; // bytecodes follow, then the line table
  std::int32_t flags = -1;             // -1: whether there are line tables is unknown
  std::uint16_t has_lines = 0;         // bit of flags
  std::int32_t pool_holder = -1;       // in ConstantPool
  std::int32_t pool_length = -1;
  std::int32_t pool_bytes = 0; // entries follow
  std::int32_t klass_name = -1;
  std::int32_t symbol_length = -1;
  std::int32_t symbol_body = -1;
};

struct ThreadLayout {
  std::int32_t anchor_sp = -1; // in JavaThread, as all here
  std::int32_t anchor_pc = -1;
  std::int32_t anchor_fp = -1;
  std::int32_t stack_base = -1;
  std::int32_t stack_size = -1;
  std::int32_t state = -1;
  std::int32_t os_thread = -1;
  std::int32_t os_thread_id = -1; // in OSThread
  std::uint64_t bytes = 0;        // sizeof(JavaThread)
};

struct VmLayout {
  std::uint32_t java_feature = 0; // 8, 11, 17, ...
  CodeHeap heaps[kMaxCodeHeaps];
  std::uint32_t heap_count = 0;
  std::uint64_t code_low = 0; // of all heaps
  std::uint64_t code_high = 0;
  std::uint32_t heap_block_bytes = 16; // header before each blob
  IntField heap_block_used;
  CodeBlobLayout blob;
  CompiledMethodLayout compiled;
  MethodLayout method;
  ThreadLayout thread;
  const StubNames* stub_names = nullptr;  // null: the JVM's list was not found
  std::uint64_t call_stub_return = 0;     // return address of StubRoutines' call stub
  std::int32_t entry_wrapper_words = 0;   // from fp to the call stub's JavaCallWrapper*
  std::int32_t wrapper_anchor = -1;       // in JavaCallWrapper
  std::int32_t anchor_in_wrapper_sp = -1; // in JavaFrameAnchor
  std::int32_t anchor_in_wrapper_pc = -1;
  std::int32_t anchor_in_wrapper_fp = -1;
  std::uint32_t number_bias = 0; // 1 where compressed numbers exclude zero bytes (20+)

  // How a thread finds its JavaThread: by the JVM's thread-specific key. To check that the value is
  // a JavaThread: its JNIEnv, embedded at `env_offset`, begins with the JVM's function table.
  std::uint32_t thread_key = 0;
  std::int32_t env_offset = -1;
  std::uint64_t jni_functions = 0;

  bool contains_code(std::uint64_t pc) const { return pc >= code_low && pc < code_high; }
};

} // namespace jprof::agent::sampling
