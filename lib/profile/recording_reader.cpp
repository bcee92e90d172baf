// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_reader.h"

#include "lib/base/counted.h"
#include "lib/base/file.h"
#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_decoder.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_info.h"

#include <algorithm>
#include <vector>

namespace jprof::profile {
namespace {

using base::ErrorCode;

bool decode_end(std::string_view payload, std::vector<EventTotals>& out) {
  ByteReader in(payload);
  std::uint64_t tag = 0;
  std::string_view content;
  bool sound = true;
  while (sound && in.field(tag, content)) {
    if (static_cast<EndTag>(tag) == EndTag::kEvent) {
      ByteReader event(content);
      out.push_back({.samples = event.varint(), .weight = event.varint(), .count = event.varint()});
      sound = event.ok() && out.size() <= kMaxEvents;
    }
  }
  return sound && in.ok();
}

std::uint64_t samples_in(const std::vector<EventTotals>& totals) {
  std::uint64_t sum = 0;
  for (const EventTotals& event : totals) {
    sum += event.samples;
  }
  return sum;
}

class Reader {
 public:
  Reader(std::string_view file, const ReadOptions& options)
      : rest_(file), file_bytes_(file.size()), options_(options), decoder_(options) {}

  base::Result<Recording> read() {
    JPROF_TRY(check_file_header(rest_));
    rest_.remove_prefix(kFileHeaderBytes);
    while (!rest_.empty() && !ended_) {
      JPROF_TRY(read_chunk());
    }
    health_.ignored_bytes += rest_.size();
    judge();
    if (!health_.complete) {
      info_.damage = damage();
      info_.partial = true;
      info_.partial_reason = info_.partial_reason.empty()
                                 ? health_.problem
                                 : info_.partial_reason + "; " + health_.problem;
    }
    if (health_.lost_samples > 0) {
      // Which events they were of, the chunk might have said.
      info_.events.front().losses.push_back(
          {.reason = "damaged chunk", .samples = health_.lost_samples});
    }
    return Recording{decoder_.build(std::move(info_)), std::move(health_)};
  }

 private:
  base::Status read_chunk() {
    ChunkHeader header;
    if (!decode_chunk_header(rest_, header)) {
      resynchronise();
      return {};
    }
    if (rest_.size() - kChunkHeaderBytes < header.stored_bytes) {
      cut_off_ = true;
      health_.ignored_bytes += rest_.size();
      rest_ = {};
      return {};
    }
    const std::string_view stored = rest_.substr(kChunkHeaderBytes, header.stored_bytes);
    rest_.remove_prefix(kChunkHeaderBytes + stored.size());
    ++health_.chunks;
    raw_bytes_ += header.raw_bytes;
    if (raw_bytes_ > options_.raw_bytes) {
      return too_large();
    }
    if (header.sequence != next_sequence_) {
      missing_chunk_ = true;
    }
    next_sequence_ = header.sequence + 1;
    return use_chunk(header, stored);
  }

  base::Status use_chunk(const ChunkHeader& header, std::string_view stored) {
    const base::Result<std::string> payload = decode_payload(header, stored);
    bool sound = payload.has_value();
    if (sound && header.kind == ChunkKind::kData) {
      const RecordingDecoder::Outcome outcome = decoder_.decode(*payload);
      if (outcome == RecordingDecoder::Outcome::kLimit) {
        return too_large();
      }
      sound = outcome == RecordingDecoder::Outcome::kOk;
    } else if (sound && header.kind == ChunkKind::kInfo) {
      sound = decode_info(*payload, info_);
    } else if (sound && header.kind == ChunkKind::kEnd) {
      sound = ended_ = decode_end(*payload, totals_);
    } else if ((header.flags & kChunkIsCritical) != 0) {
      return base::make_failure(ErrorCode::kInvalidData,
                                "a newer jprof is needed to read this recording",
                                "use the jprof that wrote it");
    } else if (sound) {
      ++health_.skipped_chunks;
    }
    if (!sound) {
      ++health_.damaged_chunks;
      health_.lost_samples += header.samples;
    }
    return {};
  }

  // Looks for the next valid chunk header. Each byte is examined once.
  void resynchronise() {
    ByteWriter magic;
    magic.fixed32(kChunkMagic);
    std::size_t at = 1;
    ChunkHeader header;
    do {
      at = rest_.find(magic.bytes(), at);
    } while (at != std::string_view::npos && !decode_chunk_header(rest_.substr(at), header) &&
             ++at != 0);
    const bool found = at != std::string_view::npos;
    const std::size_t skipped = found ? at : rest_.size();
    (found ? damaged_between_ : cut_off_) = true;
    health_.ignored_bytes += skipped;
    rest_.remove_prefix(skipped);
  }

  base::Status too_large() const {
    return base::make_failure(ErrorCode::kLimit,
                              "the recording is larger than this program can read at once",
                              "record for a shorter time or with a longer interval");
  }

  std::string damage() const {
    std::string text = health_.problem;
    if (health_.lost_samples > 0) {
      text += ", " + base::counted(health_.lost_samples, "sample") + " lost";
    }
    if (health_.ignored_bytes > 0) {
      text += ", " + std::to_string(health_.ignored_bytes) + " of " + std::to_string(file_bytes_) +
              " bytes could not be used";
    }
    return text;
  }

  void judge() {
    std::vector<EventTotals> found = decoder_.totals();
    found.resize(std::max(found.size(), totals_.size()));
    const bool totals_agree = totals_ == found;
    const std::uint64_t samples = samples_in(found);
    const std::string read = base::counted(samples, "sample") + " in " +
                             base::counted(health_.chunks, "chunk") + " could be read";
    if (health_.damaged_chunks > 0 || damaged_between_ || missing_chunk_) {
      health_.problem = "the recording is damaged; " + read;
    } else if (cut_off_ || !ended_) {
      health_.problem = "the recording was cut off; " + read;
    } else if (!totals_agree) {
      health_.problem = "the recording's totals do not agree with its samples; " + read;
    } else if (health_.ignored_bytes > 0) {
      health_.problem = "bytes follow the recording's end; " + read;
    }
    health_.complete = health_.problem.empty();
    // If the end is there, what is missing is known exactly.
    if (const std::uint64_t written = samples_in(totals_); ended_ && written > samples) {
      health_.lost_samples = written - samples;
    }
  }

  std::string_view rest_;
  std::size_t file_bytes_;
  ReadOptions options_;
  RecordingDecoder decoder_;
  ProfileInfo info_;
  RecordingHealth health_;
  std::vector<EventTotals> totals_;
  std::uint64_t raw_bytes_ = 0;
  std::uint32_t next_sequence_ = 0;
  bool ended_ = false;
  bool cut_off_ = false;
  bool damaged_between_ = false;
  bool missing_chunk_ = false;
};

} // namespace

base::Result<Recording> read_recording(std::string_view file, const ReadOptions& options) {
  return Reader(file, options).read();
}

base::Result<Recording> read_recording_fd(int fd, const std::string& name,
                                          const ReadOptions& options) {
  JPROF_TRY_ASSIGN(const std::string bytes, base::read_all(fd, options.file_bytes, name));
  auto recording = read_recording(bytes, options);
  if (!recording) {
    return base::fail(std::move(recording).error().with_context(name));
  }
  return recording;
}

base::Result<Recording> read_recording_file(const std::string& path, const ReadOptions& options) {
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, base::open_read(path));
  return read_recording_fd(fd.get(), path, options);
}

} // namespace jprof::profile
