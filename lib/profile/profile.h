// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The format-neutral profile: what every reader makes and every writer takes. It is immutable once
// built (ProfileBuilder), so any number of threads may read it. All text is valid UTF-8.
namespace jprof::profile {

enum class StringId : std::uint32_t {};
enum class FrameId : std::uint32_t {};
enum class StackId : std::uint32_t {};
enum class ThreadId : std::uint32_t {};
enum class EventId : std::uint32_t {};

inline constexpr StringId kNoString{0};  // always the empty string
inline constexpr EventId kFirstEvent{0}; // every profile has it

enum class FrameKind : std::uint8_t {
  kUnknown, // imported text that does not say which
  kInterpreted,
  kC1,
  kC2,
  kInlined,
  kJavaNative,
  kNative,
  kVm, // native code of the JVM itself
  kStub,
  kKernel,
  kError,  // "[not_walkable]" and so on: what could not be named, and why
  kThread, // a thread's name as the root frame
  kRest,   // CPU time that no sample stands for (lib/profile/rest.h)
};

// Equal frames have one FrameId. `name` is the whole label without decoration: "com.acme.Foo.bar"
// for Java, the demangled symbol for native code; `owner` is the class or the module's path.
struct Frame {
  FrameKind kind = FrameKind::kUnknown;
  StringId name = kNoString;
  StringId owner = kNoString;
  StringId signature = kNoString; // JVM descriptor
  std::int32_t line = 0;          // 0: unknown
  friend bool operator==(const Frame&, const Frame&) = default;
};

enum class ThreadState : std::uint8_t {
  kUnknown,
  kRunning,
  kRunnable,
  kSleeping,
  kWaiting,
  kParked,
  kBlocked,
  kInNative,
};

struct Thread {
  StringId name = kNoString;
  std::uint32_t tid = 0;     // in the JVM's PID namespace; 0: unknown
  std::uint64_t java_id = 0; // 0: a native thread
  // CPU time between arming and disarming; 0: unknown. Weights are compared with it.
  std::chrono::nanoseconds cpu{0};
};

// One observation, or `count` of them merged if the source has no times (then has_times is false
// and time is 0), or none if the frame is a kRest. `weight` is in its event's unit; widths are
// proportional to it.
struct Sample {
  std::chrono::nanoseconds time{0}; // since ProfileInfo::start
  ThreadId thread{0};
  StackId stack{0};
  ThreadState state = ThreadState::kUnknown;
  std::uint64_t count = 1;
  std::uint64_t weight = 0;
};

enum class Unit : std::uint8_t { kSamples, kNanoseconds, kBytes };

// Something that was not recorded, and why: {"ring full", 12, 120000000}.
struct Loss {
  std::string reason;
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;
};

// A time span in which samples were lost, so that less is visible there than there was. `from` <=
// `to`, both since ProfileInfo::start.
struct Gap {
  std::chrono::nanoseconds from{0};
  std::chrono::nanoseconds to{0};
  std::string reason;
  std::uint64_t samples = 0; // lost in it
};

// The label of a fact that a reader must not overlook: why the shares may mislead.
inline constexpr std::string_view kWarningFact = "warning";

// What was observed, how, and what is missing of it. Samples of different events are never added:
// bytes are not nanoseconds, and time on the CPU is part of the time that passes.
struct EventInfo {
  std::string name = "cpu"; // cpu, wall, alloc, lock; unique in a profile
  Unit unit = Unit::kSamples;
  std::string engine;                       // "cpu-timer"
  std::string walker;                       // "vmstructs"
  std::chrono::nanoseconds interval{0};     // asked for; 0: unknown
  std::chrono::nanoseconds interval_got{0}; // actual mean; 0: unknown
  std::vector<Loss> losses;
  std::vector<Gap> gaps; // by time; their samples are part of `losses`
};

struct ProfileInfo {
  std::string title; // "checkout-7d9f / app", never trusted as markup
  std::vector<EventInfo> events = std::vector<EventInfo>(1); // by EventId; at least one
  std::chrono::system_clock::time_point start;               // the epoch if unknown
  std::chrono::nanoseconds duration{0};
  bool has_times = false;
  bool has_threads = false;
  bool partial = false; // ended early; `partial_reason` says why
  std::string partial_reason;
  // What is missing or damaged in the file that this was read from, and what could be read; empty
  // if it is whole. It describes that file: no writer writes it.
  std::string damage;
  // Everything else worth showing, in order: {"JVM", "OpenJDK 17.0.15"}, {"agent CPU", "1.2 ms"}.
  std::vector<std::pair<std::string, std::string>> facts;
};

// The samples of one event.
struct EventSamples {
  std::vector<Sample> samples; // by time if has_times
  std::uint64_t total_weight = 0;
  std::uint64_t total_count = 0;
};

class Profile {
 public:
  const ProfileInfo& info() const { return info_; }
  std::string_view string(StringId id) const { return strings_[static_cast<std::size_t>(id)]; }
  const Frame& frame(FrameId id) const { return frames_[static_cast<std::size_t>(id)]; }
  const Thread& thread(ThreadId id) const { return threads_[static_cast<std::size_t>(id)]; }
  // Root first.
  std::span<const FrameId> stack(StackId id) const {
    const auto at = static_cast<std::size_t>(id);
    return std::span(stack_frames_)
        .subspan(stack_begins_[at], stack_begins_[at + 1] - stack_begins_[at]);
  }
  std::span<const Frame> frames() const { return frames_; }
  std::span<const Thread> threads() const {
    return threads_;
  } // [0] is "unknown" if has_threads is false
  std::size_t event_count() const { return events_.size(); } // at least 1
  std::vector<EventId> event_ids() const {
    std::vector<EventId> ids(events_.size());
    for (std::size_t at = 0; at < ids.size(); ++at) {
      ids[at] = static_cast<EventId>(at);
    }
    return ids;
  }
  const EventSamples& event(EventId id = kFirstEvent) const {
    return events_[static_cast<std::size_t>(id)];
  }
  const EventInfo& event_info(EventId id = kFirstEvent) const {
    return info_.events[static_cast<std::size_t>(id)];
  }
  bool has_samples() const { // of any event; a rest is none
    return std::ranges::any_of(events_, [](const EventSamples& e) { return e.total_count > 0; });
  }
  std::size_t string_count() const { return strings_.size(); }
  std::size_t stack_count() const { return stack_begins_.size() - 1; }

 private:
  friend class ProfileBuilder;
  Profile() = default;

  ProfileInfo info_;
  std::vector<std::string> strings_;
  std::vector<Frame> frames_;
  std::vector<Thread> threads_;
  std::vector<FrameId> stack_frames_;
  std::vector<std::size_t> stack_begins_;
  std::vector<EventSamples> events_;
};

} // namespace jprof::profile
