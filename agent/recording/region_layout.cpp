// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/region_layout.h"

#include "agent/sampling/shared_memory.h"

namespace jprof::agent::recording {
namespace {

using sampling::Sampler;
using wire::SectionKind;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kArenaStart = 8; // offset 0 means "none"
// Descriptors of perf events beyond this many per thread slot are not looked up.
constexpr std::uint32_t kDescriptorsPerThread = 8;
constexpr std::uint64_t kCachePart =
    16; // at most this fraction (1/n) of the region is the frame cache
constexpr std::uint64_t kMaxCacheBytes = 512 * 1024;

std::uint64_t clamp(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return value < low ? low : value > high ? high : value;
}

std::uint64_t power_of_two_below(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power * 2 <= value) {
    power *= 2;
  }
  return power;
}

// Hands out pieces of the region and lists them in the header.
class Divider {
 public:
  Divider(void* region, std::uint64_t bytes)
      : base_(static_cast<std::uint8_t*>(region)), bytes_(bytes), at_(wire::kRegionHeaderBytes) {}

  std::uint8_t* take(SectionKind kind, std::uint64_t record_bytes, std::uint64_t wanted) {
    const std::uint64_t offset = at_;
    const std::uint64_t rounded = (wanted + kPage - 1) & ~(kPage - 1);
    if (offset + rounded > bytes_) {
      failed_ = true;
      return base_;
    }
    at_ += rounded;
    auto* header = reinterpret_cast<wire::RegionHeader*>(base_);
    header->sections[header->section_count++] =
        wire::Section{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(record_bytes),
                      offset, record_bytes != 0 ? wanted : rounded};
    return base_ + offset;
  }
  std::uint64_t left() const { return bytes_ - at_; }
  bool failed() const { return failed_; }

 private:
  std::uint8_t* base_;
  std::uint64_t bytes_;
  std::uint64_t at_;
  bool failed_ = false;
};

void point_at_arena(sampling::Arena& arena, std::uint8_t* base, std::uint64_t bytes,
                    std::uint64_t* committed) {
  arena.base = base;
  arena.bytes = bytes;
  arena.committed = committed;
}

void zero(void* from, std::uint64_t bytes) {
  __builtin_memset(from, 0, bytes);
}

// A quarter more than there are threads, and as many as begin in two seconds, since slots are kept
// for a while after their threads have ended (thread_table.cpp). perf_slots has 16 bits for each.
std::uint32_t slots_for(std::uint64_t bytes, std::uint64_t threads) {
  constexpr std::uint64_t kSpare = 1024;
  constexpr std::uint64_t kMax = 65534;
  // What one thread takes in all tables together; the index has four to eight entries per thread.
  constexpr std::uint64_t kSlotBytes =
      sizeof(wire::ThreadSlot) + sizeof(sampling::ThreadEntry) + sizeof(sampling::Visit) +
      sizeof(sampling::WaitingTime) + sizeof(ThreadNote) +
      kDescriptorsPerThread * sizeof(std::uint16_t) + 4 * sizeof(std::uint32_t);
  static_assert(10'000 * kSlotBytes <= 4U << 20);
  const std::uint64_t room = bytes / 8 * 3 / kSlotBytes;
  return static_cast<std::uint32_t>(
      clamp(threads + threads / 4 + kSpare, 64, room < kMax ? room : kMax));
}

// The sections that a reader reads in place, in proportion to the region.
void take_tables(Divider& divider, std::uint64_t bytes, std::uint64_t threads, Sampler& sampler,
                 PrivateTables& tables) {
  const std::uint64_t slots = power_of_two_below(bytes / 8 / sizeof(wire::SampleSlot));
  sampler.ring_capacity = slots;
  sampler.ring = reinterpret_cast<wire::SampleSlot*>(divider.take(
      SectionKind::kSampleRing, sizeof(wire::SampleSlot), slots * sizeof(wire::SampleSlot)));
  sampler.thread_capacity = slots_for(bytes, threads);
  tables.thread_slots = reinterpret_cast<wire::ThreadSlot*>(
      divider.take(SectionKind::kThreads, sizeof(wire::ThreadSlot),
                   sampler.thread_capacity * sizeof(wire::ThreadSlot)));
  sampler.thread_slots = tables.thread_slots;
  tables.module_capacity =
      static_cast<std::uint32_t>(clamp(bytes / 32768, 64, sampling::kMaxModules));
  tables.module_slots = reinterpret_cast<wire::ModuleSlot*>(
      divider.take(SectionKind::kModules, sizeof(wire::ModuleSlot),
                   tables.module_capacity * sizeof(wire::ModuleSlot)));
}

// The hash tables of the two generations.
struct Hashes {
  std::uint8_t* at = nullptr;
  std::uint64_t stack_slots = 0;
  std::uint64_t name_slots = 0;
};

// The agent's own section: thread entries and their index, scratch stacks, hash tables.
Hashes take_private(Divider& divider, std::uint64_t bytes, Sampler& sampler,
                    PrivateTables& tables) {
  const std::uint64_t index_slots = power_of_two_below(sampler.thread_capacity) * 4;
  sampler.perf_capacity = sampler.thread_capacity * kDescriptorsPerThread;
  sampler.scratch_count = static_cast<std::uint32_t>(clamp(bytes >> 18, 4, 64));
  Hashes hashes{.stack_slots = power_of_two_below(clamp(bytes / 256, 1024, 1U << 20)),
                .name_slots = power_of_two_below(clamp(bytes / 512, 1024, 1U << 20))};
  const std::uint64_t entries = sampler.thread_capacity * sizeof(sampling::ThreadEntry);
  const std::uint64_t visits = sampler.thread_capacity * sizeof(sampling::Visit);
  const std::uint64_t waiting = sampler.thread_capacity * sizeof(sampling::WaitingTime);
  const std::uint64_t notes = sampler.thread_capacity * sizeof(ThreadNote);
  const std::uint64_t index = index_slots * sizeof(std::uint32_t);
  const std::uint64_t perf = sampler.perf_capacity * sizeof(std::uint16_t);
  const std::uint64_t scratch = sampler.scratch_count * sizeof(sampling::Scratch);
  const std::uint64_t words = (hashes.stack_slots + hashes.name_slots) * wire::kGenerations;
  const std::uint64_t cached = power_of_two_below(clamp(bytes / kCachePart, 0, kMaxCacheBytes) /
                                                  sizeof(sampling::FrameCache::Entry));
  const std::uint64_t cache = cached * sizeof(sampling::FrameCache::Entry);
  std::uint8_t* at = divider.take(SectionKind::kPrivate, 0,
                                  cache + entries + visits + waiting + notes + index + perf +
                                      scratch + words * sizeof(std::uint64_t));
  sampler.frame_cache =
      sampling::FrameCache(reinterpret_cast<sampling::FrameCache::Entry*>(at), cached);
  sampler.old_code.begin();
  at += cache;
  sampler.threads = reinterpret_cast<sampling::ThreadEntry*>(at);
  at += entries;
  sampler.visits = reinterpret_cast<sampling::Visit*>(at);
  at += visits;
  tables.waiting = reinterpret_cast<sampling::WaitingTime*>(at);
  at += waiting;
  tables.notes = reinterpret_cast<ThreadNote*>(at);
  at += notes;
  tables.thread_index = reinterpret_cast<std::uint32_t*>(at);
  tables.thread_index_mask = static_cast<std::uint32_t>(index_slots - 1);
  at += index;
  sampler.perf_slots = reinterpret_cast<std::uint16_t*>(at);
  at += perf;
  sampler.scratch = reinterpret_cast<sampling::Scratch*>(at);
  hashes.at = at + scratch;
  return hashes;
}

// Stacks and names share what is left.
void take_arenas(Divider& divider, Hashes hashes, Sampler& sampler) {
  const std::uint64_t share = divider.left() / wire::kGenerations & ~(kPage - 1);
  const std::uint64_t names = share / 4 & ~(kPage - 1);
  constexpr SectionKind kStacks[] = {SectionKind::kStacks0, SectionKind::kStacks1};
  constexpr SectionKind kNames[] = {SectionKind::kNames0, SectionKind::kNames1};
  for (std::size_t i = 0; i < wire::kGenerations; ++i) {
    auto& generation = sampler.generations[i];
    generation.info = &sampler.header->generations[i];
    point_at_arena(generation.stacks.arena, divider.take(kStacks[i], 0, share - names),
                   share - names, &generation.info->stacks_committed_bytes);
    point_at_arena(generation.names.arena, divider.take(kNames[i], 0, names), names,
                   &generation.info->names_committed_bytes);
    generation.stacks.table = {reinterpret_cast<std::uint64_t*>(hashes.at), hashes.stack_slots - 1};
    hashes.at += hashes.stack_slots * sizeof(std::uint64_t);
    generation.names.table = {reinterpret_cast<std::uint64_t*>(hashes.at), hashes.name_slots - 1};
    hashes.at += hashes.name_slots * sizeof(std::uint64_t);
  }
}

} // namespace

bool lay_out(void* region, std::uint64_t bytes, std::uint64_t threads, Sampler* sampler,
             PrivateTables* tables) {
  if (bytes < kMinRegionBytes || bytes > kMaxRegionBytes) {
    return false;
  }
  sampler->header = static_cast<wire::RegionHeader*>(region);
  Divider divider(region, bytes);
  take_tables(divider, bytes, threads, *sampler, *tables);
  take_arenas(divider, take_private(divider, bytes, *sampler, *tables), *sampler);
  return !divider.failed();
}

void reset_generation(sampling::Generation& generation, std::uint32_t number) {
  wire::GenerationInfo& info = *generation.info;
  zero(generation.stacks.arena.base, info.stacks_committed_bytes);
  zero(generation.names.arena.base, info.names_committed_bytes);
  zero(generation.stacks.table.slots, (generation.stacks.table.mask + 1) * sizeof(std::uint64_t));
  zero(generation.names.table.slots, (generation.names.table.mask + 1) * sizeof(std::uint64_t));
  sampling::store_relaxed(info.stacks_committed_bytes, kArenaStart);
  sampling::store_relaxed(info.names_committed_bytes, kArenaStart);
  sampling::store_relaxed(info.number, number);
  sampling::store_release(info.state, static_cast<std::uint32_t>(wire::GenerationState::kActive));
}

} // namespace jprof::agent::recording
