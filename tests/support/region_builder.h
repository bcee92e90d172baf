// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/wire/control.h"
#include "lib/wire/region.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace jprof::testing {

struct RegionShape {
  std::uint64_t ring_slots = 1024;
  std::uint64_t threads = 32;
  std::uint64_t modules = 16;
  std::uint64_t stack_bytes = 64U << 10; // of each generation
  std::uint64_t name_bytes = 32U << 10;
  // How much longer records are than this reader knows: a newer agent.
  std::uint32_t extra_record_bytes = 0;
};

// Writes a recording region as lib/wire/region.h says, the way an agent does: the reader's other
// half in tests. Maps the descriptor; whatever is written can be damaged afterwards through
// bytes().
class RegionBuilder {
 public:
  // REQUIRES: the descriptor's file is large enough for the shape.
  RegionBuilder(int fd, std::uint64_t region_bytes, std::span<const std::uint64_t, 2> session,
                const RegionShape& shape = {});
  ~RegionBuilder();
  RegionBuilder(const RegionBuilder&) = delete;
  RegionBuilder& operator=(const RegionBuilder&) = delete;

  // Into the active generation. 0 if the arena is full.
  std::uint32_t add_name(std::string_view class_name, std::string_view name,
                         std::string_view signature = "()V");
  std::uint32_t add_stack(std::span<const wire::Frame> leaf_first, std::uint16_t flags = 0);
  void set_thread(std::uint32_t index, std::uint32_t tid, std::string_view name,
                  std::uint64_t cpu_ns = 0, std::uint32_t incarnation = 1);
  // Its timer has gone, so long after the start; so much of its time is in no sample.
  void end_thread(std::uint32_t index, std::uint64_t rest_ns, std::uint64_t after_ns);
  void set_module(std::uint32_t index, std::uint64_t base, std::uint64_t end, std::uint64_t bias,
                  std::string_view path, std::string_view build_id = {});

  struct NewSample {
    std::uint64_t time_ns = 0; // after the start
    std::uint64_t weight = 10'000'000;
    std::uint32_t thread = 0;
    std::uint32_t tid = 100;
    std::uint32_t stack = 0;
  };
  // Counts it as an outcome as well. False (and counted as such) if the ring is full.
  bool add_sample(const NewSample& sample);
  // Reserves a slot and leaves it so: a handler that does not come back. Counts only the entry.
  void leave_slot_open(const NewSample& sample);
  // Completes the slot that was left open first.
  void complete_open_slot();

  void count(wire::Counter counter, std::uint64_t by = 1);
  // Closes the active generation and begins the next one in the other slot, which must be free.
  bool flip();
  // What the Drained message says.
  void acknowledge(std::uint64_t ring_tail, std::uint32_t drained_generation);
  void set_state(wire::RegionState state);
  std::uint32_t generation() const { return number_; }

  wire::RegionHeader& header() { return *header_; }
  std::span<std::byte> bytes() { return {base_, bytes_}; }
  wire::SampleSlot& slot(std::uint64_t number);

 private:
  std::byte* section(wire::SectionKind kind) const;
  wire::Section& add_section(wire::SectionKind kind, std::uint64_t record_bytes,
                             std::uint64_t bytes);
  void begin_generation(std::size_t slot);
  bool reserve(const NewSample& sample, std::uint64_t* number);
  std::byte* allocate(wire::SectionKind kind0, std::uint64_t bytes, std::uint64_t* used);

  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  wire::RegionHeader* header_ = nullptr;
  RegionShape shape_;
  std::uint64_t next_offset_ = wire::kRegionHeaderBytes;
  std::uint32_t number_ = 0;
  std::size_t active_ = 0;
  std::vector<std::uint64_t> open_;
};

} // namespace jprof::testing
