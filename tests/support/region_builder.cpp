// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/region_builder.h"

#include "lib/base/check.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <sys/mman.h>

namespace jprof::testing {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

template <typename T>
void store_release(T& where, T value) {
  std::atomic_ref<T>(where).store(value, std::memory_order_release);
}

wire::SectionKind in_slot(wire::SectionKind kind0, std::size_t slot) {
  return static_cast<wire::SectionKind>(static_cast<std::uint32_t>(kind0) + slot);
}

} // namespace

RegionBuilder::RegionBuilder(int fd, std::uint64_t region_bytes,
                             std::span<const std::uint64_t, 2> session, const RegionShape& shape)
    : bytes_(region_bytes), shape_(shape) {
  void* mapped = ::mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  JPROF_CHECK(mapped != MAP_FAILED);
  base_ = static_cast<std::byte*>(mapped);
  header_ = reinterpret_cast<wire::RegionHeader*>(base_);
  *header_ = {};
  const std::uint64_t extra = shape.extra_record_bytes;
  add_section(wire::SectionKind::kSampleRing, sizeof(wire::SampleSlot) + extra, shape.ring_slots);
  add_section(wire::SectionKind::kThreads, sizeof(wire::ThreadSlot) + extra, shape.threads);
  add_section(wire::SectionKind::kModules, sizeof(wire::ModuleSlot) + extra, shape.modules);
  for (std::size_t slot = 0; slot < wire::kGenerations; ++slot) {
    add_section(in_slot(wire::SectionKind::kStacks0, slot), 0, shape.stack_bytes);
    add_section(in_slot(wire::SectionKind::kNames0, slot), 0, shape.name_bytes);
  }
  header_->version = wire::kRegionVersion;
  header_->min_reader_version = wire::kMinReaderVersion;
  header_->region_bytes = region_bytes;
  std::ranges::copy(session, header_->session);
  header_->engine = static_cast<std::uint32_t>(wire::Engine::kCpuTimer);
  header_->walker = static_cast<std::uint32_t>(wire::Walker::kVmStructs);
  header_->interval_ns = 10'000'000;
  header_->start_mono_ns = clock_ns(CLOCK_MONOTONIC);
  header_->start_realtime_ns = clock_ns(CLOCK_REALTIME);
  header_->heartbeat_mono_ns = header_->start_mono_ns;
  header_->counter_count = wire::kMaxCounters;
  header_->max_depth = 2048;
  begin_generation(0);
  set_state(wire::RegionState::kRecording);
  store_release(header_->magic, wire::kRegionMagic);
}

RegionBuilder::~RegionBuilder() {
  ::munmap(base_, bytes_);
}

wire::Section& RegionBuilder::add_section(wire::SectionKind kind, std::uint64_t record_bytes,
                                          std::uint64_t count_or_bytes) {
  wire::Section& section = header_->sections[header_->section_count++];
  section.kind = static_cast<std::uint32_t>(kind);
  section.record_bytes = static_cast<std::uint32_t>(record_bytes);
  section.offset = next_offset_;
  section.bytes = record_bytes > 0 ? record_bytes * count_or_bytes : count_or_bytes;
  next_offset_ += (section.bytes + 63) / 64 * 64;
  JPROF_CHECK(next_offset_ <= bytes_);
  return section;
}

std::byte* RegionBuilder::section(wire::SectionKind kind) const {
  for (const wire::Section& section : header_->sections) {
    if (section.kind == static_cast<std::uint32_t>(kind)) {
      return base_ + section.offset;
    }
  }
  JPROF_CHECK(false);
  return nullptr;
}

void RegionBuilder::begin_generation(std::size_t slot) {
  active_ = slot;
  wire::GenerationInfo& info = header_->generations[slot];
  std::memset(section(in_slot(wire::SectionKind::kStacks0, slot)), 0, shape_.stack_bytes);
  std::memset(section(in_slot(wire::SectionKind::kNames0, slot)), 0, shape_.name_bytes);
  info.number = ++number_;
  info.stacks_committed_bytes = 8;
  info.names_committed_bytes = 8;
  store_release(info.state, static_cast<std::uint32_t>(wire::GenerationState::kActive));
}

bool RegionBuilder::flip() {
  const std::size_t next = 1 - active_;
  if (header_->generations[next].state !=
      static_cast<std::uint32_t>(wire::GenerationState::kFree)) {
    return false;
  }
  store_release(header_->generations[active_].state,
                static_cast<std::uint32_t>(wire::GenerationState::kClosed));
  begin_generation(next);
  count(wire::Counter::kGenerationFlips);
  return true;
}

std::byte* RegionBuilder::allocate(wire::SectionKind kind0, std::uint64_t bytes,
                                   std::uint64_t* used) {
  const bool stacks = kind0 == wire::SectionKind::kStacks0;
  const std::uint64_t limit = stacks ? shape_.stack_bytes : shape_.name_bytes;
  const std::uint64_t rounded = (bytes + 7) / 8 * 8;
  if (*used + rounded > limit) {
    return nullptr;
  }
  std::byte* at = section(in_slot(kind0, active_)) + *used;
  *used += rounded;
  return at;
}

std::uint32_t RegionBuilder::add_name(std::string_view class_name, std::string_view name,
                                      std::string_view signature) {
  std::uint64_t& used = header_->generations[active_].names_committed_bytes;
  const std::uint64_t offset = used;
  const std::size_t text = class_name.size() + name.size() + signature.size();
  std::byte* at = allocate(wire::SectionKind::kNames0, sizeof(wire::NameRecord) + text, &used);
  if (at == nullptr) {
    return 0;
  }
  auto& record = *reinterpret_cast<wire::NameRecord*>(at);
  record.record_bytes = static_cast<std::uint32_t>(used - offset);
  record.kind = static_cast<std::uint16_t>(wire::NameKind::kMethod);
  record.class_bytes = static_cast<std::uint16_t>(class_name.size());
  record.name_bytes = static_cast<std::uint16_t>(name.size());
  record.signature_bytes = static_cast<std::uint16_t>(signature.size());
  auto* out = reinterpret_cast<char*>(at + sizeof(record));
  for (const std::string_view part : {class_name, name, signature}) {
    out = std::ranges::copy(part, out).out;
  }
  store_release(record.ready, std::uint32_t{1});
  return static_cast<std::uint32_t>(offset / 8);
}

std::uint32_t RegionBuilder::add_stack(std::span<const wire::Frame> leaf_first,
                                       std::uint16_t flags) {
  std::uint64_t& used = header_->generations[active_].stacks_committed_bytes;
  const std::uint64_t offset = used;
  std::byte* at = allocate(wire::SectionKind::kStacks0,
                           sizeof(wire::StackRecord) + leaf_first.size_bytes(), &used);
  if (at == nullptr) {
    return 0;
  }
  auto& record = *reinterpret_cast<wire::StackRecord*>(at);
  record.depth = static_cast<std::uint16_t>(leaf_first.size());
  record.flags = flags;
  std::memcpy(at + sizeof(record), leaf_first.data(), leaf_first.size_bytes());
  store_release(record.ready, std::uint32_t{1});
  return static_cast<std::uint32_t>(offset / 8);
}

void RegionBuilder::set_thread(std::uint32_t index, std::uint32_t tid, std::string_view name,
                               std::uint64_t cpu_ns, std::uint32_t incarnation) {
  std::byte* at = section(wire::SectionKind::kThreads) +
                  index * (sizeof(wire::ThreadSlot) + shape_.extra_record_bytes);
  auto& slot = *reinterpret_cast<wire::ThreadSlot*>(at);
  store_release(slot.seq, slot.seq + 1);
  slot.tid = tid;
  slot.java_id = tid * 10U;
  slot.cpu_at_arm_ns = 1000;
  slot.cpu_at_disarm_ns = 1000 + cpu_ns;
  slot.incarnation = incarnation;
  slot.name_bytes = static_cast<std::uint16_t>(std::min(name.size(), sizeof(slot.name)));
  std::ranges::copy(name.substr(0, slot.name_bytes), slot.name);
  slot.flags = static_cast<std::uint16_t>(wire::ThreadFlag::kJava);
  store_release(slot.seq, slot.seq + 1);
}

void RegionBuilder::end_thread(std::uint32_t index, std::uint64_t rest_ns, std::uint64_t after_ns) {
  std::byte* at = section(wire::SectionKind::kThreads) +
                  index * (sizeof(wire::ThreadSlot) + shape_.extra_record_bytes);
  auto& slot = *reinterpret_cast<wire::ThreadSlot*>(at);
  store_release(slot.seq, slot.seq + 1);
  slot.rest_ns = rest_ns;
  slot.armed_ns = header_->start_mono_ns;
  slot.disarmed_ns = header_->start_mono_ns + after_ns;
  store_release(slot.seq, slot.seq + 1);
}

void RegionBuilder::set_module(std::uint32_t index, std::uint64_t base, std::uint64_t end,
                               std::uint64_t bias, std::string_view path,
                               std::string_view build_id) {
  std::byte* at = section(wire::SectionKind::kModules) +
                  index * (sizeof(wire::ModuleSlot) + shape_.extra_record_bytes);
  auto& slot = *reinterpret_cast<wire::ModuleSlot*>(at);
  store_release(slot.seq, slot.seq + 1);
  slot.base = base;
  slot.end = end;
  slot.bias = bias;
  slot.path_bytes = static_cast<std::uint32_t>(path.size());
  std::ranges::copy(path, slot.path);
  slot.build_id_bytes = static_cast<std::uint32_t>(build_id.size());
  std::ranges::copy(build_id, slot.build_id);
  store_release(slot.seq, slot.seq + 1);
}

wire::SampleSlot& RegionBuilder::slot(std::uint64_t number) {
  return *reinterpret_cast<wire::SampleSlot*>(
      section(wire::SectionKind::kSampleRing) +
      number % shape_.ring_slots * (sizeof(wire::SampleSlot) + shape_.extra_record_bytes));
}

bool RegionBuilder::reserve(const NewSample& sample, std::uint64_t* number) {
  count(wire::Counter::kEntered);
  if (header_->ring_head - header_->ring_tail >= shape_.ring_slots) {
    count(wire::Counter::kOutcomeRingFull);
    count(wire::Counter::kLostWeight, sample.weight);
    return false;
  }
  *number = header_->ring_head;
  wire::SampleSlot& out = slot(*number);
  out.time_ns = header_->start_mono_ns + sample.time_ns;
  out.weight = sample.weight;
  out.thread = sample.thread;
  out.tid = sample.tid;
  out.generation = number_;
  out.stack = sample.stack;
  out.event = static_cast<std::uint16_t>(wire::EventKind::kCpu);
  out.state = static_cast<std::uint8_t>(wire::ThreadState::kRunning);
  store_release(header_->ring_head, *number + 1);
  return true;
}

bool RegionBuilder::add_sample(const NewSample& sample) {
  std::uint64_t number = 0;
  if (!reserve(sample, &number)) {
    return false;
  }
  const bool error = (sample.stack & wire::kStackIsError) != 0;
  store_release(slot(number).ticket, number + 1);
  count(error ? wire::Counter::kOutcomeError : wire::Counter::kOutcomeStack);
  count(wire::Counter::kWeight, sample.weight);
  return true;
}

void RegionBuilder::leave_slot_open(const NewSample& sample) {
  std::uint64_t number = 0;
  JPROF_CHECK(reserve(sample, &number));
  open_.push_back(number);
}

void RegionBuilder::complete_open_slot() {
  const std::uint64_t number = open_.front();
  open_.erase(open_.begin());
  store_release(slot(number).ticket, number + 1);
  count(wire::Counter::kOutcomeStack);
  count(wire::Counter::kWeight, slot(number).weight);
}

void RegionBuilder::count(wire::Counter counter, std::uint64_t by) {
  std::atomic_ref<std::uint64_t>(header_->counters[static_cast<std::size_t>(counter)])
      .fetch_add(by, std::memory_order_relaxed);
}

void RegionBuilder::acknowledge(std::uint64_t ring_tail, std::uint32_t drained_generation) {
  header_->ring_tail = ring_tail;
  for (wire::GenerationInfo& info : header_->generations) {
    if (info.state == static_cast<std::uint32_t>(wire::GenerationState::kClosed) &&
        info.number <= drained_generation) {
      store_release(info.state, static_cast<std::uint32_t>(wire::GenerationState::kFree));
    }
  }
}

void RegionBuilder::set_state(wire::RegionState state) {
  store_release(header_->state, static_cast<std::uint32_t>(state));
}

} // namespace jprof::testing
