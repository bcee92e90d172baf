// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/wire/control.h"
#include "lib/wire/region.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jprof::record {

// A stack copied from the region, leaf first.
struct RegionStack {
  std::vector<wire::Frame> frames;
  std::uint16_t flags = 0; // wire::StackFlag bits
};

// A name copied from the region: bytes of the JVM, in its modified UTF-8.
struct RegionName {
  wire::NameKind kind = wire::NameKind::kMethod;
  std::uint16_t flags = 0; // wire::NameFlag bits
  std::string class_name;  // "java/lang/String"
  std::string name;
  std::string signature;
  std::string lines; // a compressed line table, if the flags say so; untrusted (line_table.h)
  std::size_t bytes() const {
    return class_name.size() + name.size() + signature.size() + lines.size();
  }
};

// kLive stops at the first sample that is still being written. kFinal, for a region that is no
// longer written, skips those and counts them as in flight.
enum class Reading { kLive, kFinal };

// Reads a recording region that a hostile process may be writing at the same time. It is never
// mapped: everything is copied with pread, then checked, then used, and the layout is read once, in
// open(). The region's size limits memory and time, whatever the region says. One thread at a time;
// the descriptor is the caller's and must outlive the reader.
class RegionReader {
 public:
  // Checks magic, versions, session and every section. kProtocol if the agent's header is invalid.
  static base::Result<RegionReader> open(int fd, std::uint64_t region_bytes,
                                         std::span<const std::uint64_t, 2> session);

  // Copies the header again: state, generations, counters, head of the ring.
  base::Status refresh();
  const wire::RegionHeader& header() const { return header_; }
  wire::RegionState state() const { return static_cast<wire::RegionState>(header_.state); }
  std::uint64_t counter(wire::Counter counter) const {
    return header_.counters[static_cast<std::size_t>(counter)];
  }

  // Replaces `out` with the samples completed since the last call; at most the ring's capacity.
  // kProtocol if the ring is inconsistent. Call refresh() first.
  base::Status read_samples(Reading reading, std::vector<wire::SampleSlot>& out);
  // False if the reference is invalid.
  bool read_stack(std::uint32_t generation, std::uint32_t stack, RegionStack& out) const;
  bool read_name(std::uint32_t generation, std::uint32_t name, RegionName& out) const;
  // The slots in use that could be read while nobody was writing them, by index.
  struct Thread {
    std::uint32_t index = 0;
    wire::ThreadSlot slot{};
  };
  std::vector<Thread> read_threads() const;
  std::vector<wire::ModuleSlot> read_modules() const;

  // What may be acknowledged once everything that read_samples() gave has been used, including the
  // stacks and names that the samples refer to.
  std::uint64_t tail() const { return tail_; }
  std::uint32_t drained_generation() const { return drained_generation_; }
  std::uint64_t ring_capacity() const { return ring_.capacity; }
  // The room for all records of one generation: those of a well-behaved agent do not overlap.
  std::uint64_t stack_arena_bytes() const { return std::max(stacks_[0].bytes, stacks_[1].bytes); }
  std::uint64_t name_arena_bytes() const { return std::max(names_[0].bytes, names_[1].bytes); }
  // From now on stacks of more frames are refused: nobody asked for them. 0: no limit.
  void refuse_deeper_than(std::size_t frames) { max_frames_ = frames; }
  // Samples in the ring that read_samples() has not yet given, according to the last header.
  std::uint64_t unread() const {
    const std::uint64_t behind = header_.ring_head - tail_;
    return behind <= ring_.capacity ? behind : 0; // otherwise it is invalid and means nothing
  }
  // Slots that were reserved but never completed, as found with kFinal.
  std::uint64_t slots_in_flight() const { return slots_in_flight_; }

 private:
  struct Table {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t record_bytes = 0;
    std::uint64_t capacity = 0;
  };

  explicit RegionReader(int fd) : fd_(fd) {}
  base::Status take_layout(std::uint64_t region_bytes);
  base::Status take_section(const wire::Section& section, std::uint64_t region_bytes);
  bool read(std::uint64_t offset, void* out, std::size_t bytes) const;
  bool read_slots(std::uint64_t first, std::size_t count, std::vector<wire::SampleSlot>& out) const;
  // The arena of the generation; null if there is no such generation.
  const Table* arena(std::uint32_t generation, const std::array<Table, 2>& arenas) const;
  template <typename Slot>
  std::vector<std::pair<std::uint32_t, Slot>> read_table(const Table& table) const;

  int fd_;
  wire::RegionHeader header_{};
  Table ring_;
  Table threads_;
  Table modules_;
  std::array<Table, wire::kGenerations> stacks_;
  std::array<Table, wire::kGenerations> names_;
  std::uint64_t tail_ = 0;
  std::uint32_t drained_generation_ = 0;
  std::uint64_t slots_in_flight_ = 0;
  std::size_t max_frames_ = 0;
};

} // namespace jprof::record
