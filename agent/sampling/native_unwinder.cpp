// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/native_unwinder.h"

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 1U << 20;

} // namespace

bool leave_native(const ModuleMap&, bool, arch::Registers& registers) {
  const std::uint64_t sp = registers.sp;
  const std::uint64_t fp = registers.fp;
  if (fp < sp || fp - sp > kMaxFrameBytes || (fp & 7) != 0) {
    return false;
  }
  return arch::leave_by_frame_pointer(registers) && registers.pc != 0;
}

} // namespace jprof::agent::sampling
