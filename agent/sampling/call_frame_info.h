// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Unwinds one frame by the tables that compilers emit for C++ exceptions and that are mapped with
// the code: .eh_frame_hdr and .eh_frame (Linux Standard Base Core 5.0, chapters 10.6 and 10.7;
// DWARF 5, section 6.4). Only the stack pointer, the frame pointer and the return address are
// followed. Signal-safe: every byte is read by a protected load, all work is bounded, and nothing
// is allocated.

#include "agent/arch/arch.h"
#include "agent/sampling/frame_rule.h"
#include "agent/sampling/module_map.h"

namespace jprof::agent::sampling {

enum class UnwindResult {
  kNoInformation, // the tables do not cover this pc, or in terms that we do not follow
  kOutermost,     // this is the first frame of the stack
  kUnwound,
};

// What the module's tables say about an instruction.
FrameRule find_frame_rule(const CodeModule& module, std::uint64_t pc);
// Moves `registers` to the caller.
UnwindResult unwind_by_rule(const FrameRule& rule, arch::Registers& registers);

} // namespace jprof::agent::sampling
