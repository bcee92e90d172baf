// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/protocol/reply.h"
#include "sidecar/serve/frame_stream.h"

#include <cstddef>
#include <string>
#include <vector>

namespace jprof::serve {

// Sends files of a directory as chunks, one piece whenever the stream has little queued, so that
// memory use stays small whatever the caller's speed. One thread.
class FileSender {
 public:
  FileSender(std::string directory, std::vector<protocol::ResultFile> files)
      : directory_(std::move(directory)), files_(std::move(files)) {}
  // One file that is open already and need not have a name.
  FileSender(base::UniqueFd file, protocol::ResultFile result)
      : files_{std::move(result)}, fd_(std::move(file)) {}

  // True when everything is queued. An error means that a file is not what the result said.
  base::Result<bool> pump(FrameStream& stream);

 private:
  std::string directory_;
  std::vector<protocol::ResultFile> files_;
  std::size_t index_ = 0;
  std::uint64_t offset_ = 0;
  base::UniqueFd fd_;
};

} // namespace jprof::serve
