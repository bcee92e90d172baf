// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/recording_writer.h"
#include "sidecar/record/frame_namer.h"
#include "sidecar/record/hot_methods.h"
#include "sidecar/record/region_reader.h"
#include "sidecar/record/thread_registry.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::record {

struct IntakeLimits {
  std::uint32_t depth = 0; // that the agent was asked for; deeper stacks are rejected; 0: no limit
  std::size_t dictionary_bytes = 64U << 20;   // beyond it, new stacks keep less of their depth
  std::uint64_t recording_bytes = 512U << 20; // at it, the capture ends
  std::uint64_t samples = 30'000'000;         // at it, the capture ends
};

// Why some samples have no whole stack.
struct ErrorReason {
  std::string label; // of the error frame
  std::uint64_t samples = 0;
};

// Moves samples, names and threads from the region into the recording. One thread at a time; reader
// and writer are the caller's and must outlive it.
class Intake {
 public:
  Intake(RegionReader& region, profile::RecordingWriter& writer, NativeNamer native,
         const IntakeLimits& limits);

  // By how much the region's clock is ahead of ours: both are CLOCK_MONOTONIC of one machine, but
  // the JVM may be in a time namespace of its own. Before the first drain.
  void set_clock_ahead(std::chrono::nanoseconds ahead) {
    ahead_ns_ = static_cast<std::uint64_t>(ahead.count());
  }

  // Reads and writes what is there now, until `enough` ends it between two samples: then behind()
  // says how much is left, and the next call begins with that. What was read may be acknowledged
  // only when nothing is left. An error is the region's: kProtocol. Once the writer's sink has
  // failed, what is read is counted and not written (unwritten()).
  using Enough = std::function<bool()>;
  base::Status drain(Reading reading, const Enough& enough = nullptr);
  std::size_t behind() const { return slots_.size() - next_slot_; }
  // At the end, whatever was left unread: the rests that drain() would have written.
  void write_rests();
  // At the end: CPU time that the process has used outside the threads whose clocks were read.
  void write_unseen(std::uint64_t weight_ns, std::chrono::nanoseconds duration);
  // Writes everything so far to the sink.
  void flush();
  // Rereads the table of threads. The next drain writes the rests that it reports.
  void update_threads(ThreadRegistry::CpuTimes cpu_times) { threads_.update(cpu_times); }
  void modules_changed() { namer_.forget_addresses(); }
  // A limit has been reached: nothing more should be recorded.
  bool full() const;
  // Recording continued all the same until memory ran out: drain() takes nothing more.
  bool overfull() const;

  const HotMethods& hot() const { return hot_; }
  const ThreadRegistry& threads() const { return threads_; }
  std::uint64_t samples() const { return samples_; }
  // Samples whose weight is only intervals: their handlers did not read the thread's CPU clock,
  // which counts nanoseconds. A thread's first sample has a phase, so it is not recognised.
  std::uint64_t nominal_samples() const { return nominal_samples_; }
  std::uint64_t error_samples() const { return error_samples_; }
  // The same by the frame that says why ("[truncated]" and so on), most frequent first.
  std::vector<ErrorReason> error_reasons() const;
  std::uint64_t weight() const { return weight_; }
  // In addition: CPU time without a stack (lib/profile/rest.h).
  struct Rests {
    std::uint64_t count = 0;
    std::uint64_t after_last_ns = 0;
    std::uint64_t not_sampled_ns = 0;
    std::uint64_t ended_unseen_ns = 0;
    std::uint64_t weight_ns() const { return after_last_ns + not_sampled_ns + ended_unseen_ns; }
  };
  const Rests& rests() const { return rests_; }
  // Why the recording ends before the end of what was read.
  const std::optional<base::Error>& sink_error() const { return sink_error_; }
  // What the sink did not take. Not part of the sums above.
  struct Unwritten {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0; // of samples and rests
    std::uint64_t rests_ns = 0;
  };
  const Unwritten& unwritten() const { return unwritten_; }
  // The time of the last sample or rest, since the start that the agent reports.
  std::chrono::nanoseconds last_time() const { return last_time_; }
  std::uint64_t damaged_references() const { return namer_.damaged_references(); }
  std::uint64_t damaged_times() const { return damaged_times_; }
  bool detail_was_cut() const { return detail_was_cut_; }

 private:
  base::Status take_waiting(const Enough& enough);
  void take(const wire::SampleSlot& slot);
  void write_rest(const ThreadRegistry::Rest& rest, std::string_view label);
  std::uint64_t& rest_of(std::string_view label);
  bool is_nominal(std::uint64_t weight_ns) const;
  void write(const profile::Sample& sample);
  void check_sink(const base::Status& status);
  void take_back(const profile::Sample& sample);
  void watch_memory();
  std::string_view error_label(profile::StackId stack) const;
  void count_error(profile::StackId stack);
  bool is_mounted(profile::StackId stack);
  bool shows_mounted(std::span<const profile::FrameId> root_first) const;

  RegionReader& region_;
  profile::RecordingWriter& writer_;
  FrameNamer namer_;
  ThreadRegistry threads_;
  HotMethods hot_;
  IntakeLimits limits_;
  std::vector<wire::SampleSlot> slots_;
  std::size_t next_slot_ = 0;  // of these, to be taken
  std::uint64_t now_ns_ = 0;   // by the region's clock, when the slots had been read
  std::uint64_t ahead_ns_ = 0; // negative values wrap, and wrap back
  std::uint64_t samples_ = 0;
  std::uint64_t nominal_samples_ = 0;
  std::uint64_t error_samples_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> error_reasons_;
  std::uint64_t weight_ = 0;
  Rests rests_;
  std::optional<base::Error> sink_error_;
  Unwritten unwritten_;
  std::chrono::nanoseconds last_time_{0};
  std::uint64_t damaged_times_ = 0;
  std::uint32_t forgotten_generation_ = 0;
  // Whether a stack is that of a virtual thread, by StackId; each is examined once.
  enum class Mounted : std::uint8_t { kUnknown, kYes, kNo };
  std::vector<Mounted> mounted_;
  bool detail_was_cut_ = false;
  bool dictionary_full_ = false;
};

} // namespace jprof::record
