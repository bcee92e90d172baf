// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jprof::profile {

// Strings, frames and stacks, each stored once: equal content gets equal ids, ids count up from 0,
// and string 0 is the empty one. One thread at a time.
class Dictionary {
 public:
  Dictionary();

  // Text that is not UTF-8 is sanitised.
  StringId intern_string(std::string_view text);
  FrameId intern_frame(const Frame& frame);
  // Root first. The empty stack is a stack like any other.
  StackId intern_stack(std::span<const FrameId> root_first);

  std::string_view string(StringId id) const { return strings_[static_cast<std::size_t>(id)]; }
  const Frame& frame(FrameId id) const { return frames_[static_cast<std::size_t>(id)]; }
  std::span<const FrameId> stack(StackId id) const {
    const auto at = static_cast<std::size_t>(id);
    return std::span(stack_frames_)
        .subspan(stack_begins_[at], stack_begins_[at + 1] - stack_begins_[at]);
  }
  std::size_t string_count() const { return strings_.size(); }
  std::size_t frame_count() const { return frames_.size(); }
  std::size_t stack_count() const { return stack_begins_.size() - 1; }
  // Roughly how much memory the content takes, for callers that limit it.
  std::size_t memory_bytes() const;

  std::vector<std::string> take_strings();
  std::vector<Frame> take_frames() { return std::move(frames_); }
  std::vector<FrameId> take_stack_frames() { return std::move(stack_frames_); }
  std::vector<std::size_t> take_stack_begins() { return std::move(stack_begins_); }

 private:
  void grow_stack_slots();

  struct FrameHash {
    std::size_t operator()(const Frame& frame) const;
  };

  std::deque<std::string> strings_; // stable addresses: the map's keys point into it
  std::unordered_map<std::string_view, StringId> string_ids_;
  std::vector<Frame> frames_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::vector<FrameId> stack_frames_;
  std::vector<std::size_t> stack_begins_{0};
  // Open addressing over the stacks; at most half full.
  std::vector<std::uint32_t> stack_slots_;
  std::vector<std::uint32_t> stack_hashes_; // by stack
  std::size_t text_bytes_ = 0;
};

} // namespace jprof::profile
