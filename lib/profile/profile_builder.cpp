// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"

#include "lib/base/check.h"
#include "lib/base/utf8.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

namespace jprof::profile {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::span<const FrameId> stack) {
  std::uint64_t hash = stack.size();
  for (const FrameId id : stack) {
    hash = mix(hash, static_cast<std::uint64_t>(id));
  }
  return hash;
}

struct FrameHash {
  std::size_t operator()(const Frame& f) const {
    std::uint64_t hash = static_cast<std::uint64_t>(f.kind);
    hash = mix(hash, static_cast<std::uint64_t>(f.name));
    hash = mix(hash, static_cast<std::uint64_t>(f.owner));
    hash = mix(hash, static_cast<std::uint64_t>(f.signature));
    return mix(hash, static_cast<std::uint32_t>(f.line));
  }
};

} // namespace

struct ProfileBuilder::State {
  ProfileInfo info;
  std::deque<std::string> strings; // stable addresses: the map's keys point into it
  std::unordered_map<std::string_view, StringId> string_ids;
  std::vector<Frame> frames;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids;
  std::vector<Thread> threads;
  std::vector<FrameId> stack_frames;
  std::vector<std::size_t> stack_begins{0};
  std::unordered_multimap<std::uint64_t, StackId> stack_ids;
  std::vector<Sample> samples;

  std::span<const FrameId> stack(StackId id) const {
    const auto at = static_cast<std::size_t>(id);
    return std::span(stack_frames)
        .subspan(stack_begins[at], stack_begins[at + 1] - stack_begins[at]);
  }
};

ProfileBuilder::ProfileBuilder() : state_(std::make_unique<State>()) {
  intern_string("");
}
ProfileBuilder::~ProfileBuilder() = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;

StringId ProfileBuilder::intern_string(std::string_view text) {
  State& s = *state_;
  if (const auto found = s.string_ids.find(text); found != s.string_ids.end()) {
    return found->second;
  }
  std::string clean = base::sanitize_utf8(text);
  if (const auto found = s.string_ids.find(clean); found != s.string_ids.end()) {
    return found->second;
  }
  const auto id = static_cast<StringId>(s.strings.size());
  s.strings.push_back(std::move(clean));
  s.string_ids.emplace(s.strings.back(), id);
  return id;
}

FrameId ProfileBuilder::intern_frame(const Frame& frame) {
  const auto id = static_cast<FrameId>(state_->frames.size());
  const auto [at, is_new] = state_->frame_ids.try_emplace(frame, id);
  if (is_new) {
    state_->frames.push_back(frame);
  }
  return at->second;
}

StackId ProfileBuilder::intern_stack(std::span<const FrameId> root_first) {
  State& s = *state_;
  const std::uint64_t hash = hash_of(root_first);
  const auto [begin, end] = s.stack_ids.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (std::ranges::equal(s.stack(it->second), root_first)) {
      return it->second;
    }
  }
  const auto id = static_cast<StackId>(s.stack_begins.size() - 1);
  s.stack_frames.insert(s.stack_frames.end(), root_first.begin(), root_first.end());
  s.stack_begins.push_back(s.stack_frames.size());
  s.stack_ids.emplace(hash, id);
  return id;
}

ThreadId ProfileBuilder::add_thread(const Thread& thread) {
  state_->threads.push_back(thread);
  return static_cast<ThreadId>(state_->threads.size() - 1);
}

void ProfileBuilder::add_sample(const Sample& sample) {
  state_->samples.push_back(sample);
}

ProfileInfo& ProfileBuilder::info() {
  return state_->info;
}

Profile ProfileBuilder::build() {
  State s = std::move(*std::exchange(state_, std::make_unique<State>()));
  intern_string("");
  Profile profile;
  if (s.threads.empty()) {
    s.threads.emplace_back();
  }
  for (const Sample& sample : s.samples) {
    JPROF_CHECK(static_cast<std::size_t>(sample.stack) + 1 < s.stack_begins.size());
    JPROF_CHECK(static_cast<std::size_t>(sample.thread) < s.threads.size());
    profile.total_weight_ += sample.weight;
    profile.total_count_ += sample.count;
  }
  if (s.info.has_times) {
    std::ranges::stable_sort(s.samples, {}, &Sample::time);
  }
  profile.info_ = std::move(s.info);
  profile.strings_.assign(std::make_move_iterator(s.strings.begin()),
                          std::make_move_iterator(s.strings.end()));
  profile.frames_ = std::move(s.frames);
  profile.threads_ = std::move(s.threads);
  profile.stack_frames_ = std::move(s.stack_frames);
  profile.stack_begins_ = std::move(s.stack_begins);
  profile.samples_ = std::move(s.samples);
  return profile;
}

} // namespace jprof::profile
