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
  std::vector<EventSamples> events;
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

void ProfileBuilder::add_sample(const Sample& sample, EventId event) {
  State& s = *state_;
  const auto at = static_cast<std::size_t>(event);
  if (at >= s.events.size()) {
    s.events.resize(at + 1);
  }
  s.events[at].samples.push_back(sample);
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
  JPROF_CHECK(!s.info.events.empty() && s.events.size() <= s.info.events.size());
  s.events.resize(s.info.events.size());
  for (EventSamples& event : s.events) {
    for (const Sample& sample : event.samples) {
      JPROF_CHECK(static_cast<std::size_t>(sample.stack) < s.dictionary.stack_count());
      JPROF_CHECK(static_cast<std::size_t>(sample.thread) < s.threads.size());
      event.total_weight += sample.weight;
      event.total_count += sample.count;
    }
    if (s.info.has_times) {
      std::ranges::stable_sort(event.samples, {}, &Sample::time);
    }
  }
  profile.info_ = std::move(s.info);
  profile.strings_ = s.dictionary.take_strings();
  profile.frames_ = s.dictionary.take_frames();
  profile.threads_ = std::move(s.threads);
  profile.stack_frames_ = s.dictionary.take_stack_frames();
  profile.stack_begins_ = s.dictionary.take_stack_begins();
  profile.events_ = std::move(s.events);
  return profile;
}

} // namespace jprof::profile
