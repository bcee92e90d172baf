// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/recording_writer.h"
#include "sidecar/record/region_reader.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace jprof::record {

// Which thread of the profile a sample belongs to. The agent reuses a slot when its thread has
// ended; slot, tid and incarnation together identify a thread. One thread at a time.
class ThreadRegistry {
 public:
  ThreadRegistry(const RegionReader& region, profile::RecordingWriter& writer);

  // Reads the region's table again: names, new threads, CPU times. CPU times change all the time,
  // so they are written to the recording rarely, and always at the end.
  enum class CpuTimes { kIfDue, kWrite };
  void update(CpuTimes cpu_times);
  profile::ThreadId thread_of(const wire::SampleSlot& sample);
  // The same for a sample of a virtual thread that this thread carried. The virtual threads of each
  // carrier share one thread of the profile, separate from what the carrier did itself.
  profile::ThreadId mounted_on(const wire::SampleSlot& sample);

  // Of the samples that were not their thread's first: each stands for whole intervals, whereas a
  // first one stands for as much as has passed of one when the thread is armed.
  struct Repeated {
    std::uint64_t samples = 0;
    std::uint64_t weight_ns = 0;
  };
  const Repeated& repeated() const { return repeated_; }

  // The CPU time of a thread that no sample stands for: reported by the agent once its timer is
  // gone.
  struct Rest {
    profile::ThreadId thread{};
    std::uint64_t weight_ns = 0;
    std::uint64_t time_ns = 0; // middle of the time in which it was used; the region's clock
    bool was_sampled = false;
  };
  // What is new since the last call. Samples that were in the region at the last update() must have
  // been taken before: they decide whether the thread has any.
  std::vector<Rest> take_rests();

  // CPU time of all threads between arming and disarming.
  std::chrono::nanoseconds total_cpu() const;
  std::uint64_t threads() const { return threads_.size(); }
  // Threads that no signal reached, and the CPU time that is therefore not in the profile.
  struct Unsampled {
    std::uint64_t threads = 0;
    std::chrono::nanoseconds cpu{0};
  };
  Unsampled unsampled(wire::ThreadFlag why) const; // kSignalBlocked, kNeverArmed, kSandboxed

 private:
  struct Entry {
    profile::ThreadId id{};
    profile::Thread thread;
    std::uint16_t flags = 0;
    std::chrono::nanoseconds written_cpu{0};
    std::optional<profile::ThreadId> mounted; // of the virtual threads that it has carried
    std::uint64_t last_sample_ns = 0;         // 0: none
    bool rest_told = false;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // slot, tid, incarnation

  void learn(const RegionReader::Thread& found, bool write_cpu);
  void learn_rest(Entry& entry, const wire::ThreadSlot& slot);
  Entry& entry_of(const wire::SampleSlot& sample);
  Entry& note_sample(const wire::SampleSlot& sample);
  profile::Thread mounted_thread(const profile::Thread& carrier);

  const RegionReader& region_;
  profile::RecordingWriter& writer_;
  std::map<Key, Entry> threads_; // entries stay where they are, except early ones (learn)
  struct Told {
    const Entry* entry;
    std::uint64_t rest_ns;
    std::uint64_t armed_ns;
    std::uint64_t disarmed_ns;
  };
  std::vector<Told> told_;
  unsigned updates_ = 0;
  Repeated repeated_;
};

} // namespace jprof::record
