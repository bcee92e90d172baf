// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/recording_writer.h"
#include "sidecar/record/arena_budget.h"
#include "sidecar/record/line_table.h"
#include "sidecar/record/region_reader.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jprof::record {

// The name of a native address.
struct NativeName {
  std::string function;  // "JavaThread::run", "libfoo.so+0x1234"
  std::string module;    // path as the JVM's mount namespace names it
  std::string signature; // what was cut from the demangled name, "(int) const"
  bool belongs_to_vm = false;
};
// Never fails: an unknown address has a name that says so. `when_ns` is in the region's clock: a
// module may be unloaded and its addresses reused.
using NativeNamer = std::function<NativeName(std::uint64_t address, std::uint64_t when_ns)>;

// "[not_walkable]" for an error frame's payload.
std::string_view error_frame_label(std::uint64_t payload);
// The same for a kernel frame: "[kernel]" for a system call.
std::string_view kernel_frame_label(std::uint64_t payload);
// Turns "java/lang/String" into "java.lang.String"; drops the address in the name of a hidden
// class, which differs in every run.
std::string java_class_label(std::string_view internal_name);

// Names the frames of the region, each once, as frames of a recording. One thread at a time.
class FrameNamer {
 public:
  FrameNamer(const RegionReader& region, profile::RecordingWriter& writer, NativeNamer native);

  // A damaged reference becomes a stack of one "[damaged]" frame.
  profile::StackId stack(const wire::SampleSlot& sample);
  // The stack for CPU time that has none (lib/profile/rest.h): one frame with this name.
  profile::StackId rest(std::string_view label);
  // Stacks and names of these generations will be overwritten.
  void forget(std::uint32_t up_to_generation);
  // Native modules have changed: addresses are named again.
  void forget_addresses() { native_frames_.clear(); }

  // From now on a new stack keeps only `depth` frames (root side and leaf); 0: no limit. For when
  // memory runs short.
  void limit_depth(std::size_t depth) { depth_limit_ = depth; }
  // From now on new frames have no lines, so that stacks that differ only in lines are one.
  void forget_lines() { with_lines_ = false; }
  std::uint64_t damaged_references() const { return damaged_references_; }

 private:
  profile::StackId read_stack(const wire::SampleSlot& sample);
  profile::FrameId frame(const wire::SampleSlot& sample, wire::Frame frame, bool interrupted);
  profile::FrameId java_frame(const wire::SampleSlot& sample, wire::Frame frame);
  profile::FrameId native_frame(const wire::SampleSlot& sample, wire::Frame frame,
                                bool interrupted);
  profile::FrameId error_frame(std::string_view label);
  profile::FrameId damaged_frame();
  profile::StackId single(profile::FrameId frame);
  profile::StackId keep(std::vector<profile::FrameId> root_first);

  const RegionReader& region_;
  profile::RecordingWriter& writer_;
  NativeNamer native_;
  // Keys: generation << 32 | offset.
  std::unordered_map<std::uint64_t, profile::StackId> stacks_;
  struct JavaMethod {
    profile::Frame frame; // without kind and line
    LineTable lines;
    struct Known {
      std::int32_t line;
      profile::FrameKind kind;
      profile::FrameId id;
    };
    std::vector<Known> known;
  };
  profile::FrameId at_line(JavaMethod& method, profile::FrameKind kind, std::uint64_t bci);
  JavaMethod read_method(const wire::SampleSlot& sample, wire::Frame frame);

  ArenaBudget stack_budget_;
  ArenaBudget name_budget_;
  std::unordered_map<std::uint64_t, JavaMethod> java_methods_;
  std::size_t line_entries_ = 0; // of the tables in java_methods_, at most
  std::unordered_map<std::uint64_t, profile::FrameId> native_frames_; // by address as looked up
  std::size_t depth_limit_ = 0;
  bool with_lines_ = true;
  std::uint64_t damaged_references_ = 0;
};

} // namespace jprof::record
