// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_builder.h"

#include "lib/base/check.h"
#include "lib/profile/dictionary.h"

#include <algorithm>
#include <utility>

namespace jprof::profile {
struct ProfileBuilder::State {
  ProfileInfo info;
  Dictionary dictionary;
  std::vector<Thread> threads;
  std::vector<Sample> samples;
};

ProfileBuilder::ProfileBuilder() : state_(std::make_unique<State>()) {}
ProfileBuilder::~ProfileBuilder() = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;

StringId ProfileBuilder::intern_string(std::string_view text) {
  return state_->dictionary.intern_string(text);
}

std::string_view ProfileBuilder::string(StringId id) const {
  return state_->dictionary.string(id);
}

FrameId ProfileBuilder::intern_frame(const Frame& frame) {
  return state_->dictionary.intern_frame(frame);
}

StackId ProfileBuilder::intern_stack(std::span<const FrameId> root_first) {
  return state_->dictionary.intern_stack(root_first);
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
  Profile profile;
  if (s.threads.empty()) {
    s.threads.emplace_back();
  }
  for (const Sample& sample : s.samples) {
    JPROF_CHECK(static_cast<std::size_t>(sample.stack) < s.dictionary.stack_count());
    JPROF_CHECK(static_cast<std::size_t>(sample.thread) < s.threads.size());
    profile.total_weight_ += sample.weight;
    profile.total_count_ += sample.count;
  }
  if (s.info.has_times) {
    std::ranges::stable_sort(s.samples, {}, &Sample::time);
  }
  profile.info_ = std::move(s.info);
  profile.strings_ = s.dictionary.take_strings();
  profile.frames_ = s.dictionary.take_frames();
  profile.threads_ = std::move(s.threads);
  profile.stack_frames_ = s.dictionary.take_stack_frames();
  profile.stack_begins_ = s.dictionary.take_stack_begins();
  profile.samples_ = std::move(s.samples);
  return profile;
}

} // namespace jprof::profile
