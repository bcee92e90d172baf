// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_writer.h"

#include "lib/base/check.h"
#include "lib/profile/byte_codec.h"
#include "lib/profile/dictionary.h"
#include "lib/profile/event_totals.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_info.h"
#include "lib/profile/sample_columns.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace jprof::profile {
namespace {

// A section is closed when it reaches this size, so that no chunk comes near kMaxChunkBytes.
constexpr std::size_t kSectionBytes = 1U << 20;
// No real name is longer; a name that is cut says so.
constexpr std::size_t kMaxTextBytes = 64U << 10;
constexpr std::string_view kCut = "...";

constexpr std::uint64_t tag_of(DataTag tag) {
  return static_cast<std::uint64_t>(tag);
}

void write_text(ByteWriter& lengths, ByteWriter& texts, std::string_view text) {
  const bool fits = text.size() <= kMaxTextBytes;
  const std::string_view kept = fits ? text : text.substr(0, kMaxTextBytes);
  lengths.varint(kept.size() + (fits ? 0 : kCut.size()));
  texts.raw(kept);
  if (!fits) {
    texts.raw(kCut);
  }
}

// Each encode_* writes entries from `from` on until the section is full, and returns where it
// stopped.
std::size_t encode_strings(const Dictionary& dictionary, std::size_t from, ByteWriter& out) {
  ByteWriter lengths;
  ByteWriter texts;
  std::size_t at = from;
  for (; at < dictionary.string_count() && texts.bytes().size() < kSectionBytes; ++at) {
    write_text(lengths, texts, dictionary.string(static_cast<StringId>(at)));
  }
  ByteWriter section;
  section.varint(from);
  section.varint(at - from);
  section.raw(lengths.bytes());
  section.raw(texts.bytes());
  out.field(tag_of(DataTag::kStrings), section.bytes());
  return at;
}

std::size_t encode_frames(const Dictionary& dictionary, std::size_t from, ByteWriter& out) {
  constexpr std::size_t kMaxFrames = kSectionBytes / 32;
  const std::size_t end = std::min(dictionary.frame_count(), from + kMaxFrames);
  ByteWriter section;
  section.varint(from);
  section.varint(end - from);
  const auto column = [&](auto write) {
    for (std::size_t at = from; at < end; ++at) {
      write(dictionary.frame(static_cast<FrameId>(at)));
    }
  };
  column([&](const Frame& f) { section.byte(static_cast<std::uint8_t>(f.kind)); });
  column([&](const Frame& f) { section.varint(static_cast<std::uint64_t>(f.name)); });
  column([&](const Frame& f) { section.varint(static_cast<std::uint64_t>(f.owner)); });
  column([&](const Frame& f) { section.varint(static_cast<std::uint64_t>(f.signature)); });
  column([&](const Frame& f) { section.zigzag(f.line); });
  out.field(tag_of(DataTag::kFrames), section.bytes());
  return end;
}

// Writes the stacks of `order`, starting at number `from`. Each is written as the length that it
// shares with the one before, from the root, and the frames after that.
std::size_t encode_stacks(const Dictionary& dictionary, std::span<const StackId> order,
                          std::size_t from, ByteWriter& out) {
  ByteWriter shared;
  ByteWriter rests;
  ByteWriter frames;
  std::span<const FrameId> before;
  std::size_t at = from;
  const auto size = [&] {
    return shared.bytes().size() + rests.bytes().size() + frames.bytes().size();
  };
  for (; at < order.size() && size() < kSectionBytes; ++at) {
    const std::span<const FrameId> stack = dictionary.stack(order[at]);
    const auto same =
        static_cast<std::size_t>(std::ranges::mismatch(before, stack).in1 - before.begin());
    shared.varint(same);
    rests.varint(stack.size() - same);
    for (const FrameId frame : stack.subspan(same)) {
      frames.varint(static_cast<std::uint64_t>(frame));
    }
    before = stack;
  }
  ByteWriter section;
  section.varint(from);
  section.varint(at - from);
  section.raw(shared.bytes());
  section.raw(rests.bytes());
  section.raw(frames.bytes());
  out.field(tag_of(DataTag::kStacks), section.bytes());
  return at;
}

// What the file holds of an event, and what waits for its next chunk.
struct EventState {
  SampleColumnOptions columns;
  std::vector<Sample> waiting;
  EventTotals totals;
};

} // namespace

struct RecordingWriter::State {
  ByteSink sink;
  RecordingOptions options;
  Dictionary dictionary;
  std::vector<Thread> threads;
  std::vector<std::size_t> changed_threads;
  std::vector<EventState> events;
  // How much of the dictionary has been written.
  std::size_t strings_done = 0;
  std::size_t frames_done = 0;
  std::size_t stacks_done = 0;
  // New stacks are sorted before they are written, so that neighbours share most of their frames;
  // hence the file has ids of its own for them.
  std::vector<StackId> stack_order;    // by the file's id
  std::vector<std::uint32_t> file_ids; // by ours
  std::uint32_t sequence = 0;
  std::uint64_t bytes_written = 0;
  base::Status failure;
  bool given_up = false;

  // Samples of all events.
  std::size_t waiting() const {
    std::size_t sum = 0;
    for (const EventState& event : events) {
      sum += event.waiting.size();
    }
    return sum;
  }

  base::Status write(std::string_view bytes) {
    if (failure) {
      failure = sink(bytes);
      bytes_written += failure ? bytes.size() : 0;
    }
    return failure;
  }

  base::Status write_chunk(ChunkKind kind, std::string_view payload, std::size_t sample_count = 0) {
    JPROF_TRY_ASSIGN(const std::string chunk,
                     encode_chunk({.kind = kind,
                                   .sequence = sequence,
                                   .samples = static_cast<std::uint32_t>(sample_count),
                                   .payload = payload},
                                  options.zstd_level));
    JPROF_TRY(write(chunk));
    ++sequence;
    return {};
  }

  base::Status spill(ByteWriter& payload) {
    if (payload.bytes().size() < kSectionBytes) {
      return {};
    }
    const std::string full = payload.take();
    payload = ByteWriter();
    return write_chunk(ChunkKind::kData, full);
  }

  base::Status write_dictionary(ByteWriter& payload) {
    while (strings_done < dictionary.string_count()) {
      strings_done = encode_strings(dictionary, strings_done, payload);
      JPROF_TRY(spill(payload));
    }
    while (frames_done < dictionary.frame_count()) {
      frames_done = encode_frames(dictionary, frames_done, payload);
      JPROF_TRY(spill(payload));
    }
    order_new_stacks();
    while (stacks_done < stack_order.size()) {
      stacks_done = encode_stacks(dictionary, stack_order, stacks_done, payload);
      JPROF_TRY(spill(payload));
    }
    return {};
  }

  void order_new_stacks() {
    const std::size_t from = stack_order.size();
    for (std::size_t at = from; at < dictionary.stack_count(); ++at) {
      stack_order.push_back(static_cast<StackId>(at));
    }
    const auto added = std::span(stack_order).subspan(from);
    std::ranges::sort(added, [this](StackId a, StackId b) {
      return std::ranges::lexicographical_compare(dictionary.stack(a), dictionary.stack(b));
    });
    file_ids.resize(stack_order.size());
    for (std::size_t at = from; at < stack_order.size(); ++at) {
      file_ids[static_cast<std::size_t>(stack_order[at])] = static_cast<std::uint32_t>(at);
    }
  }

  // Writes the last of the waiting chunks, which holds the samples: if the sink refuses it, they
  // keep waiting.
  base::Status write_waiting(ByteWriter& payload) {
    std::size_t whole = 0;
    rename_stacks(file_ids);
    for (std::size_t at = 0; at < events.size(); ++at) {
      EventState& event = events[at];
      whole += static_cast<std::size_t>(
          std::ranges::count_if(event.waiting, [](const Sample& s) { return s.count > 0; }));
      if (!event.waiting.empty()) {
        payload.field(tag_of(DataTag::kSamples),
                      encode_samples(event.waiting, static_cast<EventId>(at), event.columns));
      }
    }
    if (payload.bytes().empty()) {
      return failure; // nothing waits either
    }
    base::Status written = write_chunk(ChunkKind::kData, payload.bytes(), whole);
    if (written) {
      for (EventState& event : events) {
        event.waiting.clear();
      }
    } else {
      rename_stacks(stack_order);
    }
    return written;
  }

  void rename_stacks(const auto& names) {
    for (EventState& event : events) {
      for (Sample& sample : event.waiting) {
        sample.stack = static_cast<StackId>(names[static_cast<std::size_t>(sample.stack)]);
      }
    }
  }

  base::Status write_threads(ByteWriter& payload) {
    std::ranges::sort(changed_threads);
    changed_threads.erase(std::unique(changed_threads.begin(), changed_threads.end()),
                          changed_threads.end());
    ByteWriter section;
    for (const std::size_t id : changed_threads) {
      const Thread& thread = threads[id];
      ByteWriter record;
      record.varint(id);
      record.varint(static_cast<std::uint64_t>(thread.name));
      record.varint(thread.tid);
      record.varint(thread.java_id);
      record.zigzag(thread.cpu.count());
      section.text(record.bytes());
    }
    changed_threads.clear();
    payload.field(tag_of(DataTag::kThreads), section.bytes());
    return spill(payload);
  }
};

RecordingWriter::RecordingWriter(ByteSink sink, const ProfileInfo& info,
                                 const RecordingOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.sink = std::move(sink);
  s.options = options;
  JPROF_CHECK(!info.events.empty() && info.events.size() <= kMaxEvents);
  for (const EventInfo& event : info.events) {
    s.events.emplace_back().columns = {.has_times = info.has_times,
                                       .weight_is_time = event.unit == Unit::kNanoseconds,
                                       .time_step = time_step_for(event.interval, options.tick)};
  }
  if (s.write(encode_file_header())) {
    s.failure = s.write_chunk(ChunkKind::kInfo, encode_info(info));
  }
}
RecordingWriter::~RecordingWriter() = default;
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;

StringId RecordingWriter::intern_string(std::string_view text) {
  return state_->dictionary.intern_string(text);
}
FrameId RecordingWriter::intern_frame(const Frame& frame) {
  return state_->dictionary.intern_frame(frame);
}
StackId RecordingWriter::intern_stack(std::span<const FrameId> root_first) {
  if (root_first.size() <= kMaxDepth) {
    return state_->dictionary.intern_stack(root_first);
  }
  std::vector<FrameId> cut(root_first.begin(), root_first.begin() + (kMaxDepth - 2));
  cut.push_back(intern_frame({.kind = FrameKind::kError, .name = intern_string("[truncated]")}));
  cut.push_back(root_first.back());
  return state_->dictionary.intern_stack(cut);
}
std::span<const FrameId> RecordingWriter::stack(StackId id) const {
  return state_->dictionary.stack(id);
}
const Frame& RecordingWriter::frame(FrameId id) const {
  return state_->dictionary.frame(id);
}
std::string_view RecordingWriter::string(StringId id) const {
  return state_->dictionary.string(id);
}

ThreadId RecordingWriter::add_thread(const Thread& thread) {
  State& s = *state_;
  s.changed_threads.push_back(s.threads.size());
  s.threads.push_back(thread);
  return static_cast<ThreadId>(s.threads.size() - 1);
}

void RecordingWriter::set_thread(ThreadId id, const Thread& thread) {
  const auto at = static_cast<std::size_t>(id);
  state_->threads[at] = thread;
  state_->changed_threads.push_back(at);
}

base::Status RecordingWriter::add_sample(const Sample& sample, EventId event) {
  State& s = *state_;
  JPROF_CHECK(static_cast<std::size_t>(sample.stack) < s.dictionary.stack_count());
  JPROF_CHECK(!s.given_up);
  JPROF_CHECK(static_cast<std::size_t>(event) < s.events.size());
  EventState& of = s.events[static_cast<std::size_t>(event)];
  of.waiting.push_back(sample);
  of.totals.add(sample);
  return s.waiting() >= s.options.chunk_samples ? flush() : s.failure;
}

base::Status RecordingWriter::flush() {
  State& s = *state_;
  JPROF_TRY(s.failure);
  if (s.given_up) {
    return {};
  }
  ByteWriter payload;
  JPROF_TRY(s.write_dictionary(payload));
  if (!s.changed_threads.empty()) {
    JPROF_TRY(s.write_threads(payload));
  }
  return s.write_waiting(payload);
}

std::vector<std::vector<Sample>> RecordingWriter::give_up() {
  State& s = *state_;
  s.given_up = true;
  s.failure = {};
  std::vector<std::vector<Sample>> lost;
  for (EventState& event : s.events) {
    lost.push_back(std::exchange(event.waiting, {}));
    for (const Sample& sample : lost.back()) {
      event.totals.take_back(sample);
    }
  }
  return lost;
}

base::Status RecordingWriter::finish(const ProfileInfo& info) {
  State& s = *state_;
  JPROF_CHECK(info.events.size() == s.events.size());
  JPROF_TRY(flush());
  if (s.bytes_written == 0) {
    JPROF_TRY(s.write(encode_file_header()));
  }
  JPROF_TRY(s.write_chunk(ChunkKind::kInfo, encode_info(info)));
  ByteWriter end;
  for (const EventState& event : s.events) {
    ByteWriter totals;
    totals.varint(event.totals.samples);
    totals.varint(event.totals.weight);
    totals.varint(event.totals.count);
    end.field(static_cast<std::uint64_t>(EndTag::kEvent), totals.bytes());
  }
  return s.write_chunk(ChunkKind::kEnd, end.bytes());
}

std::uint64_t RecordingWriter::bytes_written() const {
  return state_->bytes_written;
}
std::uint64_t RecordingWriter::sample_count() const {
  std::uint64_t sum = 0;
  for (const EventState& event : state_->events) {
    sum += event.totals.samples;
  }
  return sum;
}
std::size_t RecordingWriter::dictionary_bytes() const {
  return state_->dictionary.memory_bytes();
}

namespace {

Frame copy_frame(const Profile& from, RecordingWriter& to, Frame frame) {
  frame.name = to.intern_string(from.string(frame.name));
  frame.owner = to.intern_string(from.string(frame.owner));
  frame.signature = to.intern_string(from.string(frame.signature));
  return frame;
}

} // namespace

base::Status write_recording(const Profile& profile, const ByteSink& sink,
                             const RecordingOptions& options) {
  RecordingWriter writer(sink, profile.info(), options);
  for (const Frame& frame : profile.frames()) {
    writer.intern_frame(copy_frame(profile, writer, frame));
  }
  for (std::size_t at = 0; at < profile.stack_count(); ++at) {
    writer.intern_stack(profile.stack(static_cast<StackId>(at)));
  }
  for (Thread thread : profile.threads()) {
    thread.name = writer.intern_string(profile.string(thread.name));
    writer.add_thread(thread);
  }
  for (const EventId event : profile.event_ids()) {
    for (const Sample& sample : profile.event(event).samples) {
      JPROF_TRY(writer.add_sample(sample, event));
    }
  }
  return writer.finish(profile.info());
}

base::Result<std::string> encode_recording(const Profile& profile,
                                           const RecordingOptions& options) {
  std::string out;
  const auto append = [&out](std::string_view bytes) -> base::Status {
    out.append(bytes);
    return {};
  };
  JPROF_TRY(write_recording(profile, append, options));
  return out;
}

} // namespace jprof::profile
