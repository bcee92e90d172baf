// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/dictionary.h"

#include "lib/base/utf8.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jprof::profile {
namespace {

constexpr std::uint32_t kNoStack = 0xffffffff;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29;
}

std::uint32_t hash_of(std::span<const FrameId> stack) {
  std::uint64_t hash = stack.size();
  for (const FrameId id : stack) {
    hash = mix(hash, static_cast<std::uint64_t>(id));
  }
  return static_cast<std::uint32_t>(hash >> 32);
}

} // namespace

std::size_t Dictionary::FrameHash::operator()(const Frame& frame) const {
  std::uint64_t hash = static_cast<std::uint64_t>(frame.kind);
  hash = mix(hash, static_cast<std::uint64_t>(frame.name));
  hash = mix(hash, static_cast<std::uint64_t>(frame.owner));
  hash = mix(hash, static_cast<std::uint64_t>(frame.signature));
  return mix(hash, static_cast<std::uint32_t>(frame.line));
}

Dictionary::Dictionary() {
  intern_string("");
}

StringId Dictionary::intern_string(std::string_view text) {
  if (const auto found = string_ids_.find(text); found != string_ids_.end()) {
    return found->second;
  }
  std::string clean = base::sanitize_utf8(text);
  if (const auto found = string_ids_.find(clean); found != string_ids_.end()) {
    return found->second;
  }
  const auto id = static_cast<StringId>(strings_.size());
  text_bytes_ += clean.size();
  strings_.push_back(std::move(clean));
  string_ids_.emplace(strings_.back(), id);
  return id;
}

FrameId Dictionary::intern_frame(const Frame& frame) {
  const auto id = static_cast<FrameId>(frames_.size());
  const auto [at, is_new] = frame_ids_.try_emplace(frame, id);
  if (is_new) {
    frames_.push_back(frame);
  }
  return at->second;
}

void Dictionary::grow_stack_slots() {
  const std::size_t slots = std::max<std::size_t>(64, stack_slots_.size() * 2);
  stack_slots_.assign(slots, kNoStack);
  for (std::uint32_t id = 0; id < stack_hashes_.size(); ++id) {
    std::size_t slot = stack_hashes_[id] & (slots - 1);
    while (stack_slots_[slot] != kNoStack) {
      slot = (slot + 1) & (slots - 1);
    }
    stack_slots_[slot] = id;
  }
}

StackId Dictionary::intern_stack(std::span<const FrameId> root_first) {
  if (stack_hashes_.size() * 2 >= stack_slots_.size()) {
    grow_stack_slots();
  }
  const std::uint32_t hash = hash_of(root_first);
  std::size_t slot = hash & (stack_slots_.size() - 1);
  for (; stack_slots_[slot] != kNoStack; slot = (slot + 1) & (stack_slots_.size() - 1)) {
    const std::uint32_t known = stack_slots_[slot];
    if (stack_hashes_[known] == hash && std::ranges::equal(stack(StackId{known}), root_first)) {
      return StackId{known};
    }
  }
  const auto id = static_cast<std::uint32_t>(stack_count());
  stack_slots_[slot] = id;
  stack_hashes_.push_back(hash);
  stack_frames_.insert(stack_frames_.end(), root_first.begin(), root_first.end());
  stack_begins_.push_back(stack_frames_.size());
  return StackId{id};
}

std::size_t Dictionary::memory_bytes() const {
  // A node of the standard library's hash maps: a link, a cached hash, key and value, its bucket.
  constexpr std::size_t kNode = 4 * sizeof(void*);
  return text_bytes_ + strings_.size() * (sizeof(std::string) + sizeof(std::string_view) + kNode) +
         frames_.size() * (2 * sizeof(Frame) + kNode) + stack_frames_.size() * sizeof(FrameId) +
         stack_count() * (sizeof(std::size_t) + 5 * sizeof(std::uint32_t));
}

std::vector<std::string> Dictionary::take_strings() {
  string_ids_.clear();
  return {std::make_move_iterator(strings_.begin()), std::make_move_iterator(strings_.end())};
}

} // namespace jprof::profile
