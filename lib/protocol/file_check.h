// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/digest.h"
#include "lib/base/result.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/reply.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace jprof::protocol {

// Checks the chunks of a result: each file in turn, without gap, overlap or surplus, and its
// SHA-256 at the end. The caller writes the bytes wherever it likes. For a resumed file it first
// feeds the bytes that it already has, with `resume`. One thread at a time.
class FileCheck {
 public:
  explicit FileCheck(std::vector<ResultFile> files);

  // Bytes of files[file] in front of its offset, in order, before its first chunk.
  base::Status resume(std::size_t file, std::string_view bytes);
  // kProtocol if the chunk is not the next one, or ends a file whose SHA-256 differs.
  base::Status accept(const Chunk& chunk);
  // At kEnd: every file is whole (kProtocol otherwise, naming the first that is not).
  base::Status finish();

  bool complete(std::size_t file) const { return states_[file].verified; }

 private:
  struct State {
    std::unique_ptr<base::Sha256Stream> digest; // null: all bytes are here, right or wrong
    std::uint64_t have = 0;
    bool verified = false;
  };
  base::Status add(std::size_t file, std::string_view bytes);

  std::vector<ResultFile> files_;
  std::vector<State> states_;
};

} // namespace jprof::protocol
