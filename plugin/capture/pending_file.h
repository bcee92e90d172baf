// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/file.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::plugin {

// A file that nobody sees under its name before it is whole: it grows beside it under a random one
// and is renamed at the end. Dropped, it leaves nothing. One thread at a time.
class PendingFile {
 public:
  // `path` is where it is to be; its directory must exist.
  static base::Result<PendingFile> create(const std::string& path);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  // Bytes written so far: where the next ones go.
  std::uint64_t size_bytes() const { return size_; }
  base::Status append(std::string_view bytes);
  // Drops what is beyond `size_bytes`. REQUIRES: size_bytes <= size_bytes().
  base::Status truncate(std::uint64_t size_bytes);

  // Syncs it and gives it its name: `path`, or, where that exists and must not be replaced, the
  // first free "stem-2.ending" and so on. Returns the name.
  base::Result<std::string> commit(base::Replace replace);
  // The same under another name in the same directory.
  base::Result<std::string> commit_as(const std::string& path, base::Replace replace);

  // For reading back; owned here.
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  PendingFile() = default;

  std::string path_;
  std::string temporary_; // empty: committed
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

} // namespace jprof::plugin
