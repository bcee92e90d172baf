// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <memory>
#include <span>
#include <string_view>

namespace jprof::profile {

// Builds a Profile. Interning is by content: equal strings, frames and stacks get equal ids. One
// thread at a time. Text that is not UTF-8 is sanitised.
class ProfileBuilder {
 public:
  ProfileBuilder();
  ~ProfileBuilder();
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;

  StringId intern_string(std::string_view text);
  std::string_view string(StringId id) const;
  FrameId intern_frame(const Frame& frame);
  // Root first. The empty stack is a stack like any other.
  StackId intern_stack(std::span<const FrameId> root_first);
  ThreadId add_thread(const Thread& thread);
  // Ids must come from this builder, and the event must be one of info() when build() is called.
  void add_sample(const Sample& sample, EventId event = kFirstEvent);

  // May be filled at any time before build().
  ProfileInfo& info();
  EventInfo& event_info(EventId event = kFirstEvent) {
    return info().events[static_cast<std::size_t>(event)];
  }

  // Sorts the samples of each event by time if has_times and returns the profile; the builder is
  // empty afterwards.
  Profile build();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace jprof::profile
