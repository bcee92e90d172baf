// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the blob of generated code that holds a pc. Signal-safe.

#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

enum class BlobKind : std::uint8_t {
  kInterpreter,
  kCompiled, // an nmethod: compiled Java code or the wrapper of a native method
  kStub,     // everything else: adapters, stub routines, runtime stubs
};

struct CodeBlob {
  std::uint64_t address = 0;
  std::uint64_t name = 0; // a C string
  std::uint64_t code_begin = 0;
  std::uint64_t end = 0; // of the whole blob
  std::uint64_t frame_bytes = 0;
  std::uint64_t frame_complete = 0; // address; 0: unknown
  BlobKind kind = BlobKind::kStub;

  bool contains(std::uint64_t pc) const { return pc >= address && pc < end; }
};

// Reads a field at the width that it has in this JVM.
bool read_int(std::uint64_t object, const IntField& field, std::int64_t* value);

// True if the code cache says that the used block that holds `pc` is now that of the blob at
// `address`. Takes two loads, of few cache lines.
bool is_in_blob(const VmLayout& vm, std::uint64_t pc, std::uint64_t address);

// False if `pc` is in no used block of the code cache.
bool find_blob(const VmLayout& vm, std::uint64_t pc, CodeBlob* blob);

} // namespace jprof::agent::sampling
