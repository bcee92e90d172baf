// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/method_frames.h"

#include "agent/arch/safe_load.h"

namespace jprof::agent::sampling {

wire::Frame name_method_frame(const VmLayout& vm, const NameStore& names, const MethodFrame& frame,
                              std::uint32_t* unnamed) {
  constexpr auto kNoMethod = static_cast<std::uint64_t>(wire::ErrorFrame::kNoMethod);
  const std::uint64_t method =
      (frame.method_id & 7) == 0 && frame.method_id != 0 ? arch::word_at(frame.method_id) : 0;
  MethodView view;
  if (!read_method(vm, method, &view)) {
    return wire::make_frame(wire::FrameKind::kError, kNoMethod);
  }
  const std::uint32_t name = names.put(view.text);
  if (arch::word_at(frame.method_id) != method) { // unloaded while its text was copied
    return wire::make_frame(wire::FrameKind::kError, kNoMethod);
  }
  *unnamed += name == 0 ? 1 : 0;
  const auto kind = view.is_native ? wire::FrameKind::kJavaNative : wire::FrameKind::kJava;
  const std::uint64_t bci =
      frame.bytecode_index >= 0 ? static_cast<std::uint64_t>(frame.bytecode_index) : wire::kNoBci;
  return wire::make_java_frame(kind, bci, name);
}

} // namespace jprof::agent::sampling
