// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/file_sender.h"

#include "lib/base/file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace jprof::serve {
namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kEnoughQueued = 2 * kPiece;

} // namespace

base::Result<bool> FileSender::pump(FrameStream& stream) {
  while (index_ < files_.size() && stream.pending() < kEnoughQueued) {
    const protocol::ResultFile& file = files_[index_];
    const std::string path = directory_ + "/" + file.name;
    if (!fd_) {
      fd_.reset(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (!fd_) {
        return base::errno_failure(errno, "cannot open " + path);
      }
      offset_ = file.offset;
    }
    const auto piece =
        static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file.bytes - offset_));
    if (piece > 0) {
      std::string data(piece, '\0');
      JPROF_TRY(
          base::pread_exact(fd_.get(), std::as_writable_bytes(std::span(data)), offset_, path));
      stream.send_raw(
          protocol::encode_chunk_frame({static_cast<std::uint32_t>(index_), offset_, data}));
      offset_ += piece;
    }
    if (offset_ == file.bytes) {
      fd_.reset();
      ++index_;
    }
  }
  return index_ == files_.size();
}

} // namespace jprof::serve
