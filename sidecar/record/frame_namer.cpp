// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/frame_namer.h"

#include "lib/base/utf8.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::record {
namespace {

using profile::FrameId;
using profile::StackId;

// If a hostile agent fills a cache, it is dropped; it is only a cache.
constexpr std::size_t kMaxCached = 1U << 20;
// The names of a well-behaved agent are read once per generation, and again after the cache has
// been dropped.
constexpr std::uint64_t kTimesRead = 4;

std::uint64_t key_of(std::uint32_t generation, std::uint32_t offset) {
  return std::uint64_t{generation} << 32 | offset;
}

bool has_flag(std::uint16_t flags, wire::StackFlag flag) {
  return (flags & static_cast<std::uint16_t>(flag)) != 0;
}

profile::FrameKind java_kind(wire::FrameKind kind) {
  switch (kind) {
  case wire::FrameKind::kInterpreted:
    return profile::FrameKind::kInterpreted;
  case wire::FrameKind::kC1:
    return profile::FrameKind::kC1;
  case wire::FrameKind::kC2:
    return profile::FrameKind::kC2;
  case wire::FrameKind::kInlined:
    return profile::FrameKind::kInlined;
  case wire::FrameKind::kJavaNative:
    return profile::FrameKind::kJavaNative;
  case wire::FrameKind::kStub:
    return profile::FrameKind::kStub;
  default:
    return profile::FrameKind::kUnknown;
  }
}

std::string text_of(const std::string& bytes, std::uint16_t flags, wire::NameFlag cut) {
  std::string text = base::from_modified_utf8(bytes);
  if ((flags & static_cast<std::uint16_t>(cut)) != 0) {
    text += "...";
  }
  return text;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

} // namespace

std::string_view error_frame_label(std::uint64_t payload) {
  static constexpr std::array<std::string_view, 16> kLabels{
      "[unknown_error]",   "[not_walkable]",   "[broken_stack]",     "[fault]",
      "[unknown_blob]",    "[no_method]",      "[stack_store_full]", "[no_scratch]",
      "[gc_active]",       "[thread_exiting]", "[in_deopt]",         "[unsafe_state]",
      "[name_store_full]", "[no_Java_frames]", "[frozen_frames]",    "[jumped_out]"};
  return kLabels[payload < kLabels.size() ? static_cast<std::size_t>(payload) : 0];
}

std::string_view kernel_frame_label(std::uint64_t payload) {
  return payload == static_cast<std::uint64_t>(wire::KernelFrame::kPageFault)
             ? "[kernel: page fault]"
             : "[kernel]";
}

std::string java_class_label(std::string_view internal_name) {
  std::string label(internal_name);
  // Hidden classes (JEP 371) are "a/B$$Lambda+0x00007f01" or "a/B$$Lambda$14/0x0000000800c03000",
  // with '.' instead of '/' where the JVM prints them.
  const std::size_t at = label.rfind("0x");
  if (at != std::string::npos && at > 0 && at + 2 < label.size() &&
      std::string_view("/+.").find(label[at - 1]) != std::string_view::npos &&
      std::all_of(label.begin() + static_cast<std::ptrdiff_t>(at) + 2, label.end(), is_hex)) {
    label.resize(at - 1);
  }
  std::ranges::replace(label, '/', '.');
  return label;
}

FrameNamer::FrameNamer(const RegionReader& region, profile::RecordingWriter& writer,
                       NativeNamer native)
    : region_(region), writer_(writer), native_(std::move(native)),
      stack_budget_(region.stack_arena_bytes()),
      name_budget_(region.name_arena_bytes() * kTimesRead) {}

FrameId FrameNamer::error_frame(std::string_view label) {
  return writer_.intern_frame(
      {.kind = profile::FrameKind::kError, .name = writer_.intern_string(label)});
}

profile::StackId FrameNamer::rest(std::string_view label) {
  return single(writer_.intern_frame(
      {.kind = profile::FrameKind::kRest, .name = writer_.intern_string(label)}));
}

FrameId FrameNamer::damaged_frame() {
  ++damaged_references_;
  return error_frame("[damaged]");
}

StackId FrameNamer::single(FrameId frame) {
  return writer_.intern_stack(std::span(&frame, 1));
}

StackId FrameNamer::stack(const wire::SampleSlot& sample) {
  if ((sample.stack & wire::kStackIsError) != 0) {
    return single(error_frame(error_frame_label(sample.stack & ~wire::kStackIsError)));
  }
  if (stacks_.size() > kMaxCached) {
    stacks_.clear();
  }
  const std::uint64_t key = key_of(sample.generation, sample.stack);
  if (const auto found = stacks_.find(key); found != stacks_.end()) {
    return found->second;
  }
  const StackId id = read_stack(sample);
  stacks_.emplace(key, id);
  return id;
}

StackId FrameNamer::read_stack(const wire::SampleSlot& sample) {
  RegionStack raw;
  if (!region_.read_stack(sample.generation, sample.stack, raw) ||
      !stack_budget_.take(sample.generation,
                          sizeof(wire::StackRecord) + raw.frames.size() * sizeof(wire::Frame))) {
    return single(damaged_frame());
  }
  std::vector<FrameId> frames; // leaf first, as in the region
  frames.reserve(raw.frames.size() + 1);
  constexpr wire::Frame kPageFault = wire::make_kernel_frame(wire::KernelFrame::kPageFault);
  bool interrupted = true; // not a caller, even if its instruction faulted
  for (const wire::Frame wire_frame : raw.frames) {
    frames.push_back(frame(sample, wire_frame, interrupted));
    interrupted = interrupted && wire_frame == kPageFault;
  }
  if (has_flag(raw.flags, wire::StackFlag::kMiddleCut) && frames.size() > 1) {
    frames.insert(frames.end() - 1, error_frame("[cut]"));
  } else if (has_flag(raw.flags, wire::StackFlag::kTruncated)) {
    frames.push_back(error_frame("[truncated]"));
  }
  std::ranges::reverse(frames);
  return keep(std::move(frames));
}

StackId FrameNamer::keep(std::vector<FrameId> root_first) {
  if (depth_limit_ >= 2 && root_first.size() > depth_limit_ + 1) {
    const FrameId leaf = root_first.back();
    root_first.resize(depth_limit_ - 1);
    root_first.push_back(error_frame("[cut]"));
    root_first.push_back(leaf);
  }
  return writer_.intern_stack(root_first);
}

FrameId FrameNamer::frame(const wire::SampleSlot& sample, wire::Frame frame, bool interrupted) {
  switch (wire::frame_kind(frame)) {
  case wire::FrameKind::kInterpreted:
  case wire::FrameKind::kC1:
  case wire::FrameKind::kC2:
  case wire::FrameKind::kInlined:
  case wire::FrameKind::kJavaNative:
  case wire::FrameKind::kStub:
  case wire::FrameKind::kJava:
    return java_frame(sample, frame);
  case wire::FrameKind::kNative:
    return native_frame(sample, frame, interrupted);
  case wire::FrameKind::kKernel:
    return writer_.intern_frame(
        {.kind = profile::FrameKind::kKernel,
         .name = writer_.intern_string(kernel_frame_label(wire::frame_payload(frame)))});
  case wire::FrameKind::kError:
    if (wire::frame_payload(frame) == static_cast<std::uint64_t>(wire::ErrorFrame::kNoJavaFrames)) {
      return writer_.intern_frame( // what the walker was told to do, not a failure
          {.name = writer_.intern_string(error_frame_label(wire::frame_payload(frame)))});
    }
    return error_frame(error_frame_label(wire::frame_payload(frame)));
  case wire::FrameKind::kNone:
    break;
  }
  return error_frame("[unknown_frame]"); // from a newer agent
}

FrameId FrameNamer::java_frame(const wire::SampleSlot& sample, wire::Frame frame) {
  const std::uint32_t name = wire::frame_name(frame);
  if (name == 0) {
    return error_frame(
        error_frame_label(static_cast<std::uint64_t>(wire::ErrorFrame::kNameStoreFull)));
  }
  if (java_methods_.size() > kMaxCached || line_entries_ > kMaxCached) {
    java_methods_.clear();
    line_entries_ = 0;
  }
  const std::uint64_t key = key_of(sample.generation, name);
  auto found = java_methods_.find(key);
  if (found == java_methods_.end()) {
    found = java_methods_.emplace(key, read_method(sample, frame)).first;
    line_entries_ += found->second.lines.size();
  }
  return at_line(found->second, java_kind(wire::frame_kind(frame)), wire::frame_bci(frame));
}

FrameNamer::JavaMethod FrameNamer::read_method(const wire::SampleSlot& sample, wire::Frame frame) {
  RegionName text;
  if (!region_.read_name(sample.generation, wire::frame_name(frame), text) ||
      !name_budget_.take(sample.generation, sizeof(wire::NameRecord) + text.bytes())) {
    return {.frame = writer_.frame(damaged_frame()), .lines = {}, .known = {}};
  }
  const std::string owner =
      java_class_label(text_of(text.class_name, text.flags, wire::NameFlag::kClassCut));
  const std::string method = text_of(text.name, text.flags, wire::NameFlag::kNameCut);
  const bool excludes_zero =
      (text.flags & static_cast<unsigned>(wire::NameFlag::kLinesExcludeZero)) != 0;
  return {.frame = {.name = writer_.intern_string(owner.empty() ? method : owner + '.' + method),
                    .owner = writer_.intern_string(owner),
                    .signature = writer_.intern_string(
                        text_of(text.signature, text.flags, wire::NameFlag::kSignatureCut))},
          .lines = LineTable(text.lines, excludes_zero),
          .known = {}};
}

FrameId FrameNamer::at_line(JavaMethod& method, profile::FrameKind kind, std::uint64_t bci) {
  const std::int32_t line = bci == wire::kNoBci || !with_lines_
                                ? 0
                                : method.lines.line_of(static_cast<std::uint32_t>(bci));
  for (const JavaMethod::Known& known : method.known) {
    if (known.line == line && known.kind == kind) {
      return known.id;
    }
  }
  profile::Frame frame = method.frame;
  if (frame.kind != profile::FrameKind::kError) { // "[damaged]" stays as it is
    frame.kind = kind;
  }
  frame.line = line;
  const FrameId id = writer_.intern_frame(frame);
  method.known.push_back({line, kind, id});
  return id;
}

FrameId FrameNamer::native_frame(const wire::SampleSlot& sample, wire::Frame frame,
                                 bool interrupted) {
  // A caller's frame holds the return address, which may be the first byte of the next function.
  const std::uint64_t address = wire::frame_payload(frame);
  const std::uint64_t inside = interrupted || address == 0 ? address : address - 1;
  if (native_frames_.size() > kMaxCached) {
    native_frames_.clear();
  }
  if (const auto found = native_frames_.find(inside); found != native_frames_.end()) {
    return found->second;
  }
  const NativeName name = native_(inside, sample.time_ns);
  const FrameId id = writer_.intern_frame(
      {.kind = name.belongs_to_vm ? profile::FrameKind::kVm : profile::FrameKind::kNative,
       .name = writer_.intern_string(name.function),
       .owner = writer_.intern_string(name.module),
       .signature = writer_.intern_string(name.signature)});
  native_frames_.emplace(inside, id);
  return id;
}

void FrameNamer::forget(std::uint32_t up_to_generation) {
  const auto is_old = [&](std::uint64_t key) { return key >> 32 <= up_to_generation; };
  std::erase_if(stacks_, [&](const auto& entry) { return is_old(entry.first); });
  std::erase_if(java_methods_, [&](const auto& entry) { return is_old(entry.first); });
}

} // namespace jprof::record
