// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies the names of methods and stubs into a generation's arena on first sight, while the frame
// that shows them keeps their class alive. Signal-safe, any thread.
//
// The address of a Method only helps to find its record: the JVM's own symbols are compared with
// the copied text every time, byte for byte. So if another Method gets the memory of an old one
// (class unloading, redefinition), it gets a new record; a wrong name is impossible.

#include "agent/sampling/arena.h"
#include "agent/sampling/vm_layout.h"
#include "lib/wire/region.h"

#include <cstdint>

namespace jprof::agent::sampling {

// A piece of the JVM's text: not NUL-terminated, length already cut to what we keep.
struct TextPiece {
  std::uint64_t address = 0;
  std::uint16_t bytes = 0;
};

struct NamedThing {
  std::uint64_t address = 0; // of the Method, stub or code blob
  wire::NameKind kind = wire::NameKind::kMethod;
  std::uint16_t flags = 0;
  std::uint16_t access_flags = 0;
  TextPiece holder; // class, empty for a stub
  TextPiece name;
  TextPiece signature;
  std::uint32_t version = 0;    // of its bytecodes: another ConstMethod has another line table
  std::uint64_t line_table = 0; // address of the compressed line table; 0: it has none
};

// The parts of a Method that a walk needs.
struct MethodView {
  NamedThing text;
  std::uint64_t bytecodes = 0;
  std::uint32_t bytecode_bytes = 0;
  bool is_native = false;
};

// False if the address holds no plausible Method.
bool read_method(const VmLayout& vm, std::uint64_t method, MethodView* view);
// The name of a stub, or of a whole code blob.
bool read_stub_name(std::uint64_t address, std::uint64_t name, NamedThing* thing);

struct NameStore {
  Arena arena;
  OffsetTable table;

  // The offset (divided by 8) of the record with this text; 0 if there is no room or the text could
  // not be read.
  std::uint32_t put(const NamedThing& thing) const;
};

} // namespace jprof::agent::sampling
