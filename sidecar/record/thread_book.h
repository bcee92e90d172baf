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

namespace jprof::record {

// Which thread of the profile a sample belongs to. The agent reuses a slot when its thread has
// ended; slot, tid and incarnation together are a thread. One thread at a time.
class ThreadBook {
 public:
  ThreadBook(const RegionReader& region, profile::RecordingWriter& writer);

  // Reads the region's table anew: names, new threads, CPU times. Those change all the time, so the
  // recording gets them rarely, and always at the end.
  enum class CpuTimes { kIfDue, kWrite };
  void update(CpuTimes cpu_times);
  profile::ThreadId thread_of(const wire::SampleSlot& sample);
  // The same for a sample of a virtual thread, which that thread carried: they have a thread of
  // their own for each carrier, so that what the carrier did itself can be told from it.
  profile::ThreadId mounted_on(const wire::SampleSlot& sample);

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
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // slot, tid, incarnation

  void learn(const RegionReader::Thread& found, bool write_cpu);
  Entry& entry_of(const wire::SampleSlot& sample);
  profile::Thread mounted_thread(const profile::Thread& carrier);

  const RegionReader& region_;
  profile::RecordingWriter& writer_;
  std::map<Key, Entry> threads_;
  unsigned updates_ = 0;
};

} // namespace jprof::record
