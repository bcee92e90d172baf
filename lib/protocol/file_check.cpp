// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/file_check.h"

#include "lib/base/encoding.h"

#include <string>
#include <utility>

namespace jprof::protocol {

FileCheck::FileCheck(std::vector<ResultFile> files)
    : files_(std::move(files)), states_(files_.size()) {
  for (State& state : states_) {
    state.digest = std::make_unique<base::Sha256Stream>();
  }
}

base::Status FileCheck::add(std::size_t file, std::string_view bytes) {
  const ResultFile& expected = files_[file];
  State& state = states_[file];
  if (!state.digest || bytes.size() > expected.bytes - state.have) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              expected.name + ": more bytes arrived than the result announced");
  }
  state.digest->update(bytes);
  state.have += bytes.size();
  if (state.have < expected.bytes) {
    return {};
  }
  const std::string got = base::hex(base::as_text(state.digest->finish()));
  state.digest.reset();
  if (got != expected.sha256) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              expected.name + " arrived damaged: SHA-256 is " + got + ", but " +
                                  expected.sha256 + " was announced",
                              "fetch the capture again by its id");
  }
  state.verified = true;
  return {};
}

base::Status FileCheck::resume(std::size_t file, std::string_view bytes) {
  if (file >= files_.size() || states_[file].have > files_[file].offset ||
      bytes.size() > files_[file].offset - states_[file].have) {
    return base::make_failure(base::ErrorCode::kInternal, "more bytes than the resumed offset");
  }
  return bytes.empty() ? base::Status() : add(file, bytes);
}

base::Status FileCheck::accept(const Chunk& chunk) {
  if (chunk.file >= files_.size()) {
    return base::make_failure(base::ErrorCode::kProtocol, "a chunk of file " +
                                                              std::to_string(chunk.file) +
                                                              ", which is not in "
                                                              "the result");
  }
  const State& state = states_[chunk.file];
  if (chunk.offset != state.have || chunk.offset < files_[chunk.file].offset) {
    return base::make_failure(base::ErrorCode::kProtocol,
                              files_[chunk.file].name + ": a chunk at offset " +
                                  std::to_string(chunk.offset) + ", but " +
                                  std::to_string(state.have) + " was expected");
  }
  return add(chunk.file, chunk.data);
}

base::Status FileCheck::finish() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!states_[i].verified) {
      JPROF_TRY(add(i, {})); // an empty file has no chunk
    }
    if (!states_[i].verified) {
      return base::make_failure(base::ErrorCode::kProtocol,
                                files_[i].name + " is cut: " + std::to_string(states_[i].have) +
                                    " of " + std::to_string(files_[i].bytes) + " bytes arrived",
                                "fetch the capture again by its id");
    }
  }
  return {};
}

} // namespace jprof::protocol
