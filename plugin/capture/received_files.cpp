// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/received_files.h"

#include "lib/base/json.h"
#include "lib/base/mebibytes.h"
#include "plugin/capture/output_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <sys/statvfs.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kMaxBytes = 4ULL << 30U; // of one capture; heap dumps go another way

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

// The format that the manifest gives for a file, otherwise the one of its ending.
std::string format_in(const protocol::ResultMessage& result, const std::string& name) {
  for (const base::Json& file : base::json_array(result.manifest, "files")) {
    const std::string format = base::json_string(file, "format");
    if (base::json_string(file, "name") == name && !format.empty()) {
      return format;
    }
  }
  return format_of(name);
}

} // namespace

base::Status ReceivedFiles::adopt(const protocol::ResultFile& file, const std::string& format) {
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&file](const File& one) { return one.name == file.name; });
  if (known != files_.end()) {
    if (known->sha256 != file.sha256 || known->bytes != file.bytes ||
        file.offset > known->pending.size_bytes()) {
      return base::make_failure(ErrorCode::kProtocol,
                                file.name + " changed while it was being fetched");
    }
    JPROF_TRY(known->pending.truncate(file.offset));
    order_.push_back(static_cast<std::size_t>(known - files_.begin()));
    return {};
  }
  const std::string path = placement_(format);
  if (path.empty() || file.offset != 0) {
    return base::make_failure(ErrorCode::kProtocol,
                              "the sidecar sends " + file.name + ", which was not asked for");
  }
  JPROF_TRY_ASSIGN(PendingFile pending, PendingFile::create(path));
  order_.push_back(files_.size());
  files_.push_back({file.name, format, file.sha256, file.bytes, std::move(pending)});
  return {};
}

// Feeds the check with what an earlier connection brought.
base::Status ReceivedFiles::replay(std::size_t index, std::uint64_t offset) {
  const PendingFile& pending = files_[order_[index]].pending;
  std::array<std::byte, 64 * 1024> buffer{};
  for (std::uint64_t at = 0; at < offset;) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), offset - at));
    const std::span<std::byte> piece = std::span(buffer).first(count);
    JPROF_TRY(base::pread_exact(pending.fd(), piece, at, pending.path()));
    JPROF_TRY(check_->resume(index, {reinterpret_cast<const char*>(piece.data()), count}));
    at += count;
  }
  return {};
}

// An announced size is believed only as far as it fits: a full disk harms more than just us.
base::Status ReceivedFiles::check_room(const protocol::ResultMessage& result) const {
  std::uint64_t total = 0;
  std::uint64_t wanted = 0;
  for (const protocol::ResultFile& file : result.files) {
    total = sum(total, file.bytes);
    wanted = sum(wanted, file.bytes - std::min(file.bytes, file.offset));
  }
  if (total > kMaxBytes) {
    return base::make_failure(ErrorCode::kProtocol,
                              "the sidecar announces a capture of " + base::mebibytes(total) +
                                  "; " + base::mebibytes(kMaxBytes) + " is the maximum",
                              "a capture is a few MiB: the pod may be hostile");
  }
  struct statvfs room {};
  if (files_.empty() || ::fstatvfs(files_[0].pending.fd(), &room) != 0) {
    return {};
  }
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (wanted > free) {
    return base::make_failure(ErrorCode::kIo,
                              "the capture needs " + base::mebibytes(wanted) +
                                  ", and the disk of " + files_[0].pending.path() + " has " +
                                  base::mebibytes(free) + " free",
                              "make room there or choose another place with -o");
  }
  return {};
}

base::Status ReceivedFiles::begin(const protocol::ResultMessage& result) {
  order_.clear();
  check_ = std::make_unique<protocol::FileCheck>(result.files);
  for (std::size_t i = 0; i < result.files.size(); ++i) {
    const protocol::ResultFile& file = result.files[i];
    JPROF_TRY(adopt(file, format_in(result, file.name)));
    JPROF_TRY(replay(i, file.offset));
  }
  JPROF_TRY(check_room(result));
  started_ = true;
  return {};
}

std::uint64_t ReceivedFiles::bytes() const {
  std::uint64_t out = 0;
  for (const File& file : files_) {
    out = sum(out, file.pending.size_bytes());
  }
  return out;
}

base::Status ReceivedFiles::add(const protocol::Chunk& chunk) {
  JPROF_TRY(check_->accept(chunk));
  return files_[order_[chunk.file]].pending.append(chunk.data);
}

base::Status ReceivedFiles::finish() {
  return check_->finish();
}

protocol::FetchRequest ReceivedFiles::resume_request(const std::string& id) const {
  protocol::FetchRequest out;
  out.id = id;
  out.wait = false; // what was sent once is sealed
  for (const File& file : files_) {
    out.names.push_back(file.name);
    out.offsets.push_back(file.pending.size_bytes());
  }
  return out;
}

} // namespace jprof::plugin
