// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/native_unwinder.h"

#include "agent/sampling/call_frame_info.h"
#include "agent/sampling/call_site.h"

namespace jprof::agent::sampling {
namespace {

FrameRule rule_at(const ModuleMap& modules, const CodeModule& module, std::uint64_t pc) {
  FrameRule rule;
  if (!modules.rules.find(pc, &rule)) {
    rule = find_frame_rule(module, pc);
    modules.rules.put(pc, rule);
  }
  return rule;
}

} // namespace

NativeStep leave_native(const ModuleMap& modules, bool interrupted, arch::Registers& registers) {
  if (const CodeModule* module = modules.find(registers.pc); module != nullptr) {
    const std::uint64_t pc = interrupted ? registers.pc : registers.pc - 1;
    switch (unwind_by_rule(rule_at(modules, *module, pc), registers)) {
    case UnwindResult::kUnwound:
      return NativeStep::kKnown;
    case UnwindResult::kOutermost:
      return NativeStep::kOutermost;
    case UnwindResult::kNoInformation:
      break;
    }
  }
  if (leave_by_call_site(modules, registers)) {
    return NativeStep::kKnown;
  }
  const std::uint64_t fp = registers.fp;
  if (fp == 0 && !interrupted) { // so at the start of a thread (System V ABI, 3.4.1)
    return NativeStep::kOutermost;
  }
  if (!arch::may_be_frame_pointer(fp, registers.sp)) {
    return NativeStep::kNone;
  }
  return arch::leave_by_frame_pointer(registers) && registers.pc != 0 ? NativeStep::kGuessed
                                                                      : NativeStep::kNone;
}

} // namespace jprof::agent::sampling
