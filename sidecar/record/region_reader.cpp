// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/region_reader.h"

#include "lib/base/file.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace jprof::record {
namespace {

using base::ErrorCode;

constexpr std::size_t kBlockSlots = 2048;
// The table of a well-behaved agent is far smaller; a hostile one must not keep us copying for
// ever.
constexpr std::uint64_t kMaxTableRecords = 65536;
constexpr std::size_t kTableBlockBytes = 64U << 10;
// The first read of a record takes this much: most stacks and names fit.
constexpr std::size_t kGuessBytes = 512;
// Of a name with its line table: only a hostile agent writes more.
constexpr std::size_t kMaxNameRecordBytes = 64U << 10;

base::Status nonsense(const std::string& what) {
  return base::make_failure(ErrorCode::kProtocol,
                            "the agent's recording region is invalid: " + what,
                            "use a sidecar and an agent of the same version; if their versions "
                            "match, the JVM may be hostile or its memory damaged");
}

// Orders the copies that two pread calls make: the second one is not older than the first.
void between_reads() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace

base::Result<RegionReader> RegionReader::open(int fd, std::uint64_t region_bytes,
                                              std::span<const std::uint64_t, 2> session) {
  RegionReader reader(fd);
  JPROF_TRY(reader.refresh());
  const wire::RegionHeader& header = reader.header_;
  if (header.magic != wire::kRegionMagic) {
    return base::fail(nonsense("it has no magic number").error());
  }
  if (header.min_reader_version > wire::kRegionVersion || header.version == 0) {
    return base::make_failure(ErrorCode::kProtocol,
                              "the agent that is resident in the JVM writes region version " +
                                  std::to_string(header.version) + ", this jprof reads up to " +
                                  std::to_string(wire::kRegionVersion),
                              "use a newer jprof, or restart the JVM");
  }
  if (!std::equal(session.begin(), session.end(), header.session)) {
    return base::fail(nonsense("it belongs to another session").error());
  }
  JPROF_TRY(reader.take_layout(region_bytes));
  return reader;
}

bool RegionReader::read(std::uint64_t offset, void* out, std::size_t bytes) const {
  return base::pread_exact(fd_, std::span(static_cast<std::byte*>(out), bytes), offset, "region")
      .has_value();
}

base::Status RegionReader::refresh() {
  if (!read(0, &header_, sizeof(header_))) {
    return nonsense("too short");
  }
  header_.section_count = std::min<std::uint32_t>(header_.section_count, wire::kMaxSections);
  header_.counter_count = std::min<std::uint32_t>(header_.counter_count, wire::kMaxCounters);
  // A counter that an older agent lacks reads as zero, not as whatever comes after the counters.
  std::fill(std::begin(header_.counters) + header_.counter_count, std::end(header_.counters), 0);
  return {};
}

base::Status RegionReader::take_layout(std::uint64_t region_bytes) {
  for (std::uint32_t i = 0; i < header_.section_count; ++i) {
    JPROF_TRY(take_section(header_.sections[i], region_bytes));
  }
  if (ring_.capacity == 0 || threads_.capacity == 0) {
    return nonsense("it has no ring or no thread table");
  }
  for (std::size_t i = 0; i < wire::kGenerations; ++i) {
    if (stacks_[i].bytes == 0 || names_[i].bytes == 0) {
      return nonsense("it has no arenas");
    }
  }
  return {};
}

base::Status RegionReader::take_section(const wire::Section& section, std::uint64_t region_bytes) {
  if (section.offset < sizeof(wire::RegionHeader) || section.offset > region_bytes ||
      section.bytes > region_bytes - section.offset || section.offset % 8 != 0) {
    return nonsense("a section is outside it");
  }
  const auto table = [&](std::size_t least_record_bytes, Table& out) -> base::Status {
    if (section.record_bytes < least_record_bytes || section.record_bytes % 8 != 0) {
      return nonsense("its records are too short");
    }
    out = {section.offset, section.bytes, section.record_bytes,
           section.bytes / section.record_bytes};
    return {};
  };
  const Table arena{section.offset, section.bytes, 0, 0};
  switch (static_cast<wire::SectionKind>(section.kind)) {
  case wire::SectionKind::kSampleRing:
    return table(sizeof(wire::SampleSlot), ring_);
  case wire::SectionKind::kThreads:
    return table(sizeof(wire::ThreadSlot), threads_);
  case wire::SectionKind::kModules:
    return table(sizeof(wire::ModuleSlot), modules_);
  case wire::SectionKind::kStacks0:
    stacks_[0] = arena;
    break;
  case wire::SectionKind::kStacks1:
    stacks_[1] = arena;
    break;
  case wire::SectionKind::kNames0:
    names_[0] = arena;
    break;
  case wire::SectionKind::kNames1:
    names_[1] = arena;
    break;
  case wire::SectionKind::kNone:
  case wire::SectionKind::kPrivate:
    break; // and any kind that a newer agent may add
  }
  return {};
}

bool RegionReader::read_slots(std::uint64_t first, std::size_t count,
                              std::vector<wire::SampleSlot>& out) const {
  // Slots may be longer than we know: they are copied whole, and only their beginning is used.
  std::vector<std::byte> bytes(count * ring_.record_bytes);
  if (!read(ring_.offset + first * ring_.record_bytes, bytes.data(), bytes.size())) {
    return false;
  }
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&out[i], bytes.data() + i * ring_.record_bytes, sizeof(wire::SampleSlot));
  }
  return true;
}

base::Status RegionReader::read_samples(Reading reading, std::vector<wire::SampleSlot>& out) {
  out.clear();
  const std::array<wire::GenerationInfo, wire::kGenerations> seen{header_.generations[0],
                                                                  header_.generations[1]};
  // The head is read after the generations' states: no sample after it belongs to a closed
  // generation.
  between_reads();
  std::uint64_t head = 0;
  if (!read(offsetof(wire::RegionHeader, ring_head), &head, sizeof(head))) {
    return nonsense("too short");
  }
  if (head - tail_ > ring_.capacity) { // also if it went backwards
    return nonsense("the ring's head is " + std::to_string(head) +
                    ", but the acknowledged position is " + std::to_string(tail_) +
                    " and its capacity " + std::to_string(ring_.capacity));
  }
  std::vector<wire::SampleSlot> first;
  std::vector<wire::SampleSlot> again;
  bool stopped = false;
  while (tail_ < head && !stopped) {
    const std::uint64_t slot = tail_ % ring_.capacity;
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>({head - tail_, ring_.capacity - slot, kBlockSlots}));
    // Twice: a slot whose ticket is right in the first copy is complete in the second.
    if (!read_slots(slot, count, first)) {
      return nonsense("too short");
    }
    between_reads();
    if (!read_slots(slot, count, again)) {
      return nonsense("too short");
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool whole = first[i].ticket == tail_ + 1 && again[i].ticket == tail_ + 1;
      if (!whole && reading == Reading::kLive) {
        stopped = true;
        break;
      }
      if (whole) {
        out.push_back(again[i]);
      } else {
        ++slots_in_flight_;
      }
      ++tail_;
    }
  }
  // Stacks may belong to a generation that began after refresh().
  between_reads();
  if (!read(offsetof(wire::RegionHeader, generations), header_.generations,
            sizeof(header_.generations))) {
    return nonsense("too short");
  }
  for (const wire::GenerationInfo& generation : seen) {
    if (!stopped &&
        generation.state == static_cast<std::uint32_t>(wire::GenerationState::kClosed)) {
      drained_generation_ = std::max(drained_generation_, generation.number);
    }
  }
  return {};
}

const RegionReader::Table* RegionReader::arena(std::uint32_t generation,
                                               const std::array<Table, 2>& arenas) const {
  for (std::size_t i = 0; i < wire::kGenerations; ++i) {
    const wire::GenerationInfo& info = header_.generations[i];
    if (info.number == generation && generation != 0 &&
        info.state != static_cast<std::uint32_t>(wire::GenerationState::kFree)) {
      return &arenas[i];
    }
  }
  return nullptr;
}

bool RegionReader::read_stack(std::uint32_t generation, std::uint32_t stack,
                              RegionStack& out) const {
  const Table* table = arena(generation, stacks_);
  const std::uint64_t offset = std::uint64_t{stack} * 8;
  if (table == nullptr || stack == 0 || offset + sizeof(wire::StackRecord) > table->bytes) {
    return false;
  }
  std::array<std::byte, kGuessBytes> guess;
  const auto got =
      static_cast<std::size_t>(std::min<std::uint64_t>(guess.size(), table->bytes - offset));
  if (!read(table->offset + offset, guess.data(), got)) {
    return false;
  }
  wire::StackRecord record;
  std::memcpy(&record, guess.data(), sizeof(record));
  const std::size_t frame_bytes = record.depth * sizeof(wire::Frame);
  if (record.ready != 1 || record.depth == 0 || (max_frames_ != 0 && record.depth > max_frames_) ||
      frame_bytes > table->bytes - offset - sizeof(record)) {
    return false;
  }
  out.flags = record.flags;
  out.frames.resize(record.depth);
  if (frame_bytes <= got - sizeof(record)) {
    std::memcpy(out.frames.data(), guess.data() + sizeof(record), frame_bytes);
    return true;
  }
  return read(table->offset + offset + sizeof(record), out.frames.data(), frame_bytes);
}

bool RegionReader::read_name(std::uint32_t generation, std::uint32_t name, RegionName& out) const {
  const Table* table = arena(generation, names_);
  const std::uint64_t offset = std::uint64_t{name} * 8;
  if (table == nullptr || name == 0 || offset + sizeof(wire::NameRecord) > table->bytes) {
    return false;
  }
  std::array<char, kGuessBytes> guess;
  const auto got =
      static_cast<std::size_t>(std::min<std::uint64_t>(guess.size(), table->bytes - offset));
  if (!read(table->offset + offset, guess.data(), got)) {
    return false;
  }
  wire::NameRecord record;
  std::memcpy(&record, guess.data(), sizeof(record));
  const std::size_t name_bytes =
      std::size_t{record.class_bytes} + record.name_bytes + record.signature_bytes;
  const bool has_lines = (record.flags & static_cast<unsigned>(wire::NameFlag::kHasLines)) != 0 &&
                         record.record_bytes > sizeof(record) + name_bytes &&
                         record.record_bytes <= kMaxNameRecordBytes;
  const std::size_t text_bytes = has_lines ? record.record_bytes - sizeof(record) : name_bytes;
  if (record.ready != 1 || text_bytes > table->bytes - offset - sizeof(record)) {
    return false;
  }
  std::string text(text_bytes, '\0');
  if (text_bytes <= got - sizeof(record)) {
    std::memcpy(text.data(), guess.data() + sizeof(record), text_bytes);
  } else if (!read(table->offset + offset + sizeof(record), text.data(), text_bytes)) {
    return false;
  }
  out.kind = static_cast<wire::NameKind>(record.kind);
  out.flags = record.flags;
  out.class_name = text.substr(0, record.class_bytes);
  out.name = text.substr(record.class_bytes, record.name_bytes);
  out.signature =
      text.substr(std::size_t{record.class_bytes} + record.name_bytes, record.signature_bytes);
  out.lines = text.substr(name_bytes);
  return true;
}

// Slots whose two copies are equal with an even sequence word: nobody wrote in between.
template <typename Slot>
std::vector<std::pair<std::uint32_t, Slot>> RegionReader::read_table(const Table& table) const {
  std::vector<std::pair<std::uint32_t, Slot>> out;
  if (table.capacity == 0) {
    return out;
  }
  const std::uint64_t records = std::min(table.capacity, kMaxTableRecords);
  const std::uint64_t per_block = std::max<std::uint64_t>(1, kTableBlockBytes / table.record_bytes);
  std::vector<std::byte> first;
  std::vector<std::byte> again;
  for (std::uint64_t at = 0; at < records; at += per_block) {
    const auto count = static_cast<std::size_t>(std::min(per_block, records - at));
    const auto bytes = static_cast<std::size_t>(count * table.record_bytes);
    const std::uint64_t offset = table.offset + at * table.record_bytes;
    first.resize(bytes);
    again.resize(bytes);
    if (!read(offset, first.data(), bytes)) {
      break;
    }
    between_reads();
    if (!read(offset, again.data(), bytes)) {
      break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = i * static_cast<std::size_t>(table.record_bytes);
      Slot slot;
      std::memcpy(&slot, again.data() + begin, sizeof(slot));
      if (slot.seq != 0 && slot.seq % 2 == 0 &&
          std::memcmp(first.data() + begin, again.data() + begin, sizeof(slot)) == 0) {
        out.emplace_back(static_cast<std::uint32_t>(at + i), slot);
      }
    }
  }
  return out;
}

std::vector<RegionReader::Thread> RegionReader::read_threads() const {
  std::vector<Thread> out;
  for (auto& [index, slot] : read_table<wire::ThreadSlot>(threads_)) {
    if (slot.tid != 0) {
      slot.name_bytes = std::min<std::uint16_t>(slot.name_bytes, wire::kThreadNameBytes);
      out.push_back({index, slot});
    }
  }
  return out;
}

std::vector<wire::ModuleSlot> RegionReader::read_modules() const {
  std::vector<wire::ModuleSlot> out;
  for (auto& [index, slot] : read_table<wire::ModuleSlot>(modules_)) {
    if (slot.base < slot.end) {
      slot.path_bytes = std::min<std::uint32_t>(slot.path_bytes, wire::kModulePathBytes);
      slot.build_id_bytes = std::min<std::uint32_t>(slot.build_id_bytes, sizeof(slot.build_id));
      out.push_back(slot);
    }
  }
  return out;
}

} // namespace jprof::record
