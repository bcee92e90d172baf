// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an nmethod says about a pc in it: which methods, inlined into one another, the code there
// came from. Formats: code/pcDesc.hpp, code/debugInfoRec.cpp, utilities/unsigned5.hpp of OpenJDK.
// Signal-safe.

#include "agent/sampling/code_cache.h"
#include "agent/sampling/vm_layout.h"

#include <cstdint>

namespace jprof::agent::sampling {

struct CompiledMethod {
  std::uint64_t address = 0;
  std::uint64_t code_begin = 0;
  std::uint64_t method = 0;
  std::uint64_t scopes_data = 0;
  std::uint64_t scopes_pcs = 0;
  std::uint64_t scopes_pcs_end = 0;
  std::uint64_t metadata = 0;
  bool optimised = false; // by C2 or a JVMCI compiler
};

bool read_compiled_method(const VmLayout& vm, const CodeBlob& blob, CompiledMethod* compiled);

// One method activation at a pc, innermost first.
struct Scope {
  std::uint64_t method = 0;
  std::int32_t bci = -1;
  std::uint32_t sender = 0; // decode offset of the scope that this one is inlined into; 0: none
};

// The scope of the first pc descriptor at or after `pc`; false if there is none.
bool innermost_scope(const VmLayout& vm, const CompiledMethod& compiled, std::uint64_t pc,
                     Scope* scope);
// The scope at a decode offset.
bool scope_at(const VmLayout& vm, const CompiledMethod& compiled, std::uint32_t offset,
              Scope* scope);

// True if `pc` is exactly where a call in this method returns to.
bool is_call_return(const CompiledMethod& compiled, std::uint64_t pc);

// If `pc` is the nmethod's deoptimisation handler, which has replaced the return address of a frame
// whose stack pointer is `sp`, returns the address that it replaced.
bool original_pc(const VmLayout& vm, const CodeBlob& blob, std::uint64_t sp, std::uint64_t* pc);

} // namespace jprof::agent::sampling
