// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_summary.h"

#include "lib/base/file.h"
#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_info.h"
#include "lib/profile/sample_columns.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::profile {
namespace {

class Summarizer {
 public:
  Summarizer(int fd, const std::string& name) : fd_(fd), name_(name) {}

  base::Result<RecordingSummary> read() {
    std::string header(kFileHeaderBytes, '\0');
    if (!take(header)) {
      return base::make_failure(base::ErrorCode::kInvalidData, name_ + " is not a recording");
    }
    JPROF_TRY(check_file_header(header));
    while (read_chunk()) {
    }
    out_.threads = threads_.size();
    out_.events.resize(std::max(out_.events.size(), out_.info.events.size()));
    return std::move(out_);
  }

 private:
  // False if the file is too short.
  bool take(std::string& out) {
    const auto got = base::pread_exact(fd_, std::as_writable_bytes(std::span(out)), offset_, name_);
    offset_ += out.size();
    return got.has_value();
  }

  bool read_chunk() {
    std::string head(kChunkHeaderBytes, '\0');
    ChunkHeader header;
    if (out_.complete || !take(head) || !decode_chunk_header(head, header)) {
      return false;
    }
    std::string stored(header.stored_bytes, '\0');
    if (!take(stored)) {
      return false;
    }
    const base::Result<std::string> payload = decode_payload(header, stored);
    if (!payload || !use(header, *payload)) {
      ++out_.damaged_chunks;
      out_.samples_in_damage += header.samples;
    }
    return true;
  }

  bool use(const ChunkHeader& header, std::string_view payload) {
    switch (header.kind) {
    case ChunkKind::kInfo: {
      ProfileInfo info;
      const bool sound = decode_info(payload, info);
      if (sound) {
        out_.info = std::move(info);
      }
      return sound;
    }
    case ChunkKind::kData:
      return add_samples(payload);
    case ChunkKind::kEnd:
      out_.complete = true;
      return true;
    }
    return true; // of a kind that is newer than this program
  }

  bool add_samples(std::string_view payload) {
    std::vector<SampleBlock> blocks;
    ByteReader in(payload);
    std::uint64_t tag = 0;
    std::string_view content;
    while (in.field(tag, content)) {
      if (static_cast<DataTag>(tag) == DataTag::kSamples &&
          !decode_samples(content, kMaxChunkSamples, blocks.emplace_back())) {
        return false;
      }
    }
    for (const SampleBlock& block : blocks) {
      for (const Sample& sample : block.samples) {
        add(block.event, sample);
      }
    }
    return in.ok();
  }

  void add(EventId event, const Sample& sample) {
    const bool is_first = std::exchange(nothing_yet_, false);
    out_.first = is_first ? sample.time : std::min(out_.first, sample.time);
    out_.last = is_first ? sample.time : std::max(out_.last, sample.time);
    const auto at = static_cast<std::size_t>(event);
    out_.events.resize(std::max(out_.events.size(), at + 1));
    ++(sample.count > 0 ? out_.events[at].samples : out_.events[at].rests);
    out_.events[at].weight += sample.weight;
    threads_.insert(sample.thread);
  }

  int fd_;
  const std::string& name_;
  std::uint64_t offset_ = 0;
  std::set<ThreadId> threads_;
  bool nothing_yet_ = true;
  RecordingSummary out_;
};

} // namespace

base::Result<RecordingSummary> summarize_recording_fd(int fd, const std::string& name) {
  return Summarizer(fd, name).read();
}

} // namespace jprof::profile
