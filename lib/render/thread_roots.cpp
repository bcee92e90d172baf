// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/thread_roots.h"

#include "lib/profile/profile_builder.h"

#include <map>
#include <utility>
#include <vector>

namespace jprof::render {
namespace {

constexpr std::size_t kMinLetters = 3;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Bytes of UTF-8 beyond ASCII count as letters.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// Copies what two builders share: the ids of one are not valid in the other.
class Copy {
 public:
  Copy(const profile::Profile& from, ThreadRoots roots) : from_(from), roots_(roots) {
    for (const profile::Frame& frame : from.frames()) {
      profile::Frame copy = frame;
      copy.name = text(frame.name);
      copy.owner = text(frame.owner);
      copy.signature = text(frame.signature);
      frames_.push_back(builder_.intern_frame(copy));
    }
    for (const profile::Thread& thread : from.threads()) {
      profile::Thread copy = thread;
      copy.name = text(thread.name);
      threads_.push_back(builder_.add_thread(copy));
      roots_of_.push_back(root_of(from.string(thread.name)));
    }
    builder_.info() = from.info();
  }

  profile::Profile finish() {
    for (const profile::EventId event : from_.event_ids()) {
      for (const profile::Sample& sample : from_.event(event).samples) {
        profile::Sample copy = sample;
        copy.thread = threads_[static_cast<std::size_t>(sample.thread)];
        copy.stack = stack_of(sample);
        builder_.add_sample(copy, event);
      }
    }
    return builder_.build();
  }

 private:
  profile::StringId text(profile::StringId id) { return builder_.intern_string(from_.string(id)); }

  profile::FrameId root_of(std::string_view name) {
    const std::string shown = roots_ == ThreadRoots::kPool ? pool_name(name) : std::string(name);
    return builder_.intern_frame(
        {.kind = profile::FrameKind::kThread,
         .name = builder_.intern_string("[" + (shown.empty() ? "unnamed" : shown) + "]")});
  }

  profile::StackId stack_of(const profile::Sample& sample) {
    const auto [known, is_new] = stacks_.try_emplace({sample.thread, sample.stack});
    if (is_new) {
      std::vector<profile::FrameId> frames{roots_of_[static_cast<std::size_t>(sample.thread)]};
      for (const profile::FrameId frame : from_.stack(sample.stack)) {
        frames.push_back(frames_[static_cast<std::size_t>(frame)]);
      }
      known->second = builder_.intern_stack(frames);
    }
    return known->second;
  }

  const profile::Profile& from_;
  ThreadRoots roots_;
  profile::ProfileBuilder builder_;
  std::vector<profile::FrameId> frames_;
  std::vector<profile::ThreadId> threads_;
  std::vector<profile::FrameId> roots_of_;
  std::map<std::pair<profile::ThreadId, profile::StackId>, profile::StackId> stacks_;
};

} // namespace

profile::Profile with_thread_roots(const profile::Profile& profile, ThreadRoots roots) {
  if (roots == ThreadRoots::kNone || !profile.info().has_threads) {
    return profile;
  }
  return Copy(profile, roots).finish();
}

std::string pool_name(std::string_view thread) {
  std::size_t number = thread.size();
  while (number > 0 && is_digit(thread[number - 1])) {
    --number;
  }
  std::size_t word = number;
  while (word > 0 && is_letter(thread[word - 1])) {
    --word;
  }
  const std::size_t letters = number - word;
  if (number == thread.size() || number == 0 || (letters > 0 && letters < kMinLetters)) {
    return std::string(thread);
  }
  return std::string(thread.substr(0, number)) + "*";
}

} // namespace jprof::render
