// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a pc to the piece of generated code that holds it. Signal-safe.

#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

enum class BlobKind : std::uint8_t {
  kInterpreter,
  kCompiled, // an nmethod: compiled Java code or the wrapper of a native method
  kStub,     // all else: adapters, stub routines, runtime stubs
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

// Reads a field of the width that it has in this JVM.
bool read_int(std::uint64_t object, const IntField& field, std::int64_t* value);

// True if the used block that holds `pc` is that of the blob at `address`, as the code cache says
// now: two loads, of few lines.
bool is_in_blob(const VmLayout& vm, std::uint64_t pc, std::uint64_t address);

// False where `pc` is in no used block of the code cache.
bool find_blob(const VmLayout& vm, std::uint64_t pc, CodeBlob* blob);

} // namespace jprof::agent::sampling
