// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/native_unwinder.h"

#include "agent/sampling/call_frame_info.h"

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 1U << 20;

} // namespace

NativeStep leave_native(const ModuleMap& modules, bool interrupted, arch::Registers& registers) {
  if (const CodeModule* module = modules.find(registers.pc); module != nullptr) {
    switch (unwind_by_cfi(*module, interrupted, registers)) {
    case UnwindResult::kUnwound:
      return NativeStep::kKnown;
    case UnwindResult::kOutermost:
      return NativeStep::kNone;
    case UnwindResult::kNoInformation:
      break;
    }
  }
  const std::uint64_t fp = registers.fp;
  if (fp < registers.sp || fp - registers.sp > kMaxFrameBytes || (fp & 7) != 0) {
    return NativeStep::kNone;
  }
  return arch::leave_by_frame_pointer(registers) && registers.pc != 0 ? NativeStep::kGuessed
                                                                      : NativeStep::kNone;
}

} // namespace jprof::agent::sampling
