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

// A file that nobody sees under its name until it is complete: it grows in the same directory
// without a name (O_TMPFILE), so that even a killed process leaves nothing behind. If the file
// system or the kernel does not support that, it grows under a hidden name, and what a killed
// process left is removed when the next file is begun there. Dropped, it leaves nothing. One thread
// at a time.
class PendingFile {
 public:
  enum class Growth { kUnnamed, kHidden }; // kHidden for tests: do not even try the other
  // `path` is its final name; the directory must exist.
  static base::Result<PendingFile> create(const std::string& path,
                                          Growth growth = Growth::kUnnamed);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  // Bytes written so far: the offset of the next ones.
  std::uint64_t size_bytes() const { return size_; }
  base::Status append(std::string_view bytes);
  // Drops everything beyond `size_bytes`. REQUIRES: size_bytes <= size_bytes().
  base::Status truncate(std::uint64_t size_bytes);

  // Syncs it and gives it its name: `path`, or, if that exists and must not be replaced, the first
  // free "stem-2.ending" and so on. Returns the name; a file that already has one keeps it.
  base::Result<std::string> commit(base::Replace replace);
  // The same, under another name in the same directory.
  base::Result<std::string> commit_as(const std::string& path, base::Replace replace);

  // For reading back; owned here.
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  PendingFile() = default;
  bool open_unnamed();
  base::Status open_hidden();
  // A hard link at `name`; false if that name exists.
  base::Result<bool> link_at(const std::string& name) const;
  base::Result<std::string> replace();
  base::Result<std::string> give_name(base::Replace replace_old);

  std::string path_;
  std::string hidden_;    // its temporary name; empty: none
  std::string committed_; // its final name; empty: none yet
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

} // namespace jprof::plugin
