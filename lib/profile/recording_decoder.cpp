// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_decoder.h"

#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/sample_columns.h"

#include <algorithm>
#include <string>
#include <utility>

namespace jprof::profile {
namespace {

constexpr std::string_view kDamaged = "[damaged]";
// A few bytes of the file can name a frame whose text with its line takes 64 KiB.
constexpr std::size_t kMaxShownBytes = 256U << 20;

FrameKind kind_of(std::uint8_t value) {
  return value <= static_cast<std::uint8_t>(FrameKind::kRest) ? static_cast<FrameKind>(value)
                                                              : FrameKind::kUnknown;
}

template <typename Id, typename Missing>
Id translate(const std::vector<Id>& table, std::uint64_t file_id, Missing missing) {
  return file_id < table.size() ? table[static_cast<std::size_t>(file_id)] : missing();
}

// Where a section's entries start and how many it claims, each of at least `least_bytes`. Ids that
// exist already mean a repeated chunk: damaged. Ids beyond the end leave a gap, filled by
// `filler()`, which makes its entry only then.
template <typename Id, typename Filler>
RecordingDecoder::Outcome open_section(ByteReader& in, std::vector<Id>& table,
                                       const ReadOptions& options, std::size_t least_bytes,
                                       Filler filler, std::size_t& count) {
  const std::uint64_t first = in.varint();
  const std::uint64_t claimed = in.varint();
  if (!in.ok() || claimed > in.left() / least_bytes || first < table.size()) {
    return RecordingDecoder::Outcome::kDamaged;
  }
  const std::size_t most = options.dictionary_entries;
  if (first > most || claimed > most - first) {
    return RecordingDecoder::Outcome::kLimit;
  }
  if (first > table.size()) {
    table.resize(static_cast<std::size_t>(first), filler());
  }
  count = static_cast<std::size_t>(claimed);
  return RecordingDecoder::Outcome::kOk;
}

// A reader at a column of `count` varints; `in` moves past it.
ByteReader take_column(ByteReader& in, std::size_t count) {
  const ByteReader column = in;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    in.varint();
  }
  return column;
}

} // namespace

RecordingDecoder::RecordingDecoder(const ReadOptions& options) : options_(options) {}

RecordingDecoder::Outcome RecordingDecoder::decode(std::string_view payload) {
  ByteReader in(payload);
  std::uint64_t tag = 0;
  std::string_view content;
  while (in.field(tag, content)) {
    Outcome outcome = Outcome::kOk;
    switch (static_cast<DataTag>(tag)) {
    case DataTag::kStrings:
      outcome = decode_strings(content);
      break;
    case DataTag::kFrames:
      outcome = decode_frames(content);
      break;
    case DataTag::kStacks:
      outcome = decode_stacks(content);
      break;
    case DataTag::kThreads:
      outcome = decode_threads(content);
      break;
    case DataTag::kSamples:
      outcome = add_samples(content);
      break;
    }
    if (outcome != Outcome::kOk) {
      return outcome;
    }
  }
  return in.ok() ? Outcome::kOk : Outcome::kDamaged;
}

RecordingDecoder::Outcome RecordingDecoder::decode_strings(std::string_view bytes) {
  ByteReader in(bytes);
  std::size_t count = 0;
  const Outcome opened = open_section(
      in, strings_, options_, 1, [&] { return builder_.intern_string(kDamaged); }, count);
  if (opened != Outcome::kOk) {
    return opened;
  }
  ByteReader lengths = take_column(in, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text = in.raw(lengths.varint());
    if (!in.ok()) {
      return Outcome::kDamaged;
    }
    strings_.push_back(builder_.intern_string(text));
  }
  return Outcome::kOk;
}

FrameId RecordingDecoder::damaged_frame() {
  return builder_.intern_frame(
      {.kind = FrameKind::kError, .name = builder_.intern_string(kDamaged)});
}

StackId RecordingDecoder::damaged_stack() {
  const FrameId frame = damaged_frame();
  return builder_.intern_stack(std::span(&frame, 1));
}

RecordingDecoder::Outcome RecordingDecoder::decode_frames(std::string_view bytes) {
  ByteReader in(bytes);
  std::size_t count = 0;
  const Outcome opened = open_section(
      in, frames_, options_, 5, [&] { return damaged_frame(); }, count);
  if (opened != Outcome::kOk) {
    return opened;
  }
  std::vector<Frame> block(count);
  const auto text = [&] {
    return translate(strings_, in.varint(), [&] { return builder_.intern_string(kDamaged); });
  };
  for (Frame& frame : block) {
    frame.kind = kind_of(in.byte());
  }
  for (Frame& frame : block) {
    frame.name = text();
  }
  for (Frame& frame : block) {
    frame.owner = text();
  }
  for (Frame& frame : block) {
    frame.signature = text();
  }
  for (Frame& frame : block) {
    frame.line =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(in.zigzag(), INT32_MIN, INT32_MAX));
  }
  if (!in.ok()) {
    return Outcome::kDamaged;
  }
  for (Frame& frame : block) {
    if (options_.lines == FrameLines::kMerge) {
      frame.line = 0;
    } else if (options_.lines == FrameLines::kShow && frame.line > 0) {
      const std::string name =
          std::string(builder_.string(frame.name)) + ':' + std::to_string(frame.line);
      shown_bytes_ += name.size();
      if (shown_bytes_ > kMaxShownBytes) {
        return Outcome::kLimit;
      }
      frame.name = builder_.intern_string(name);
    }
    frames_.push_back(builder_.intern_frame(frame));
  }
  return Outcome::kOk;
}

RecordingDecoder::Outcome RecordingDecoder::decode_stacks(std::string_view bytes) {
  ByteReader in(bytes);
  std::size_t count = 0;
  const Outcome opened = open_section(
      in, stacks_, options_, 2, [&] { return damaged_stack(); }, count);
  if (opened != Outcome::kOk) {
    return opened;
  }
  ByteReader shared_column = take_column(in, count);
  ByteReader rest_column = take_column(in, count);
  std::vector<FrameId> stack;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t shared = shared_column.varint();
    const std::uint64_t rest = rest_column.varint();
    if (!in.ok() || shared > stack.size() || rest > in.left() || shared + rest > kMaxDepth) {
      return Outcome::kDamaged;
    }
    stack.resize(static_cast<std::size_t>(shared));
    for (std::uint64_t j = 0; j < rest; ++j) {
      stack.push_back(translate(frames_, in.varint(), [&] { return damaged_frame(); }));
    }
    stack_frames_ += stack.size();
    if (stack_frames_ > options_.stack_frames) {
      return Outcome::kLimit;
    }
    stacks_.push_back(builder_.intern_stack(stack));
  }
  return in.ok() ? Outcome::kOk : Outcome::kDamaged;
}

RecordingDecoder::Outcome RecordingDecoder::decode_threads(std::string_view bytes) {
  ByteReader in(bytes);
  while (!in.at_end()) {
    ByteReader record(in.text());
    const std::uint64_t id = record.varint();
    Thread thread;
    thread.name = translate(strings_, record.varint(), [] { return kNoString; });
    thread.tid = static_cast<std::uint32_t>(record.varint());
    thread.java_id = record.varint();
    thread.cpu = std::chrono::nanoseconds(record.zigzag());
    if (!in.ok() || !record.ok() || id > UINT32_MAX) {
      return Outcome::kDamaged;
    }
    if (!note_thread(static_cast<ThreadId>(id))) {
      return Outcome::kLimit;
    }
    threads_[static_cast<ThreadId>(id)] = thread;
  }
  return in.ok() ? Outcome::kOk : Outcome::kDamaged;
}

RecordingDecoder::Outcome RecordingDecoder::add_samples(std::string_view bytes) {
  SampleBlock block;
  if (!decode_samples(bytes, kMaxChunkSamples, block)) {
    return Outcome::kDamaged;
  }
  if (entries_ + block.samples.size() > options_.samples) {
    return Outcome::kLimit;
  }
  const std::size_t events = static_cast<std::size_t>(block.event) + 1;
  totals_.resize(std::max(totals_.size(), events));
  kept_.resize(totals_.size());
  for (const Sample& sample : block.samples) {
    if (const Outcome outcome = add_sample(block.event, sample); outcome != Outcome::kOk) {
      return outcome;
    }
  }
  return Outcome::kOk;
}

// A thread whose record was lost has no name.
bool RecordingDecoder::note_thread(ThreadId id) {
  if (last_thread_ != id) {
    if (threads_.size() >= options_.dictionary_entries && !threads_.contains(id)) {
      return false;
    }
    threads_.try_emplace(id);
    last_thread_ = id;
  }
  return true;
}

RecordingDecoder::Outcome RecordingDecoder::add_sample(EventId event, Sample sample) {
  if (!note_thread(sample.thread)) {
    return Outcome::kLimit;
  }
  ++entries_;
  totals_[static_cast<std::size_t>(event)].add(sample);
  const auto file_stack = static_cast<std::uint64_t>(sample.stack);
  if (file_stack >= stacks_.size()) {
    ++samples_without_stack_;
    sample.stack = damaged_stack();
  } else {
    sample.stack = stacks_[static_cast<std::size_t>(file_stack)];
  }
  std::vector<Sample>& kept = kept_[static_cast<std::size_t>(event)];
  if (options_.times == SampleTimes::kKeep) {
    kept.push_back(sample);
    return Outcome::kOk;
  }
  sample.time = {};
  const auto [at, is_new] =
      merged_.try_emplace({event, sample.thread, sample.stack, sample.state}, kept.size());
  if (is_new) {
    kept.push_back(sample);
  } else {
    kept[at->second].weight += sample.weight;
    kept[at->second].count += sample.count;
  }
  return Outcome::kOk;
}

Profile RecordingDecoder::build(ProfileInfo info) {
  std::map<ThreadId, ThreadId> ids;
  for (const auto& [file_id, thread] : threads_) {
    ids.emplace_hint(ids.end(), file_id, builder_.add_thread(thread));
  }
  auto last = ids.end();
  for (std::size_t event = 0; event < kept_.size(); ++event) {
    for (Sample& sample : kept_[event]) {
      if (last == ids.end() || last->first != sample.thread) {
        last = ids.find(sample.thread);
      }
      sample.thread = last->second;
      builder_.add_sample(sample, static_cast<EventId>(event));
    }
  }
  kept_ = {};
  while (info.events.size() < totals_.size()) {
    info.events.emplace_back().name = kDamaged;
  }
  info.has_times = info.has_times && options_.times == SampleTimes::kKeep;
  builder_.info() = std::move(info);
  return builder_.build();
}

} // namespace jprof::profile
