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

// A file that nobody sees under its name before it is whole: it grows in the same directory without
// a name (O_TMPFILE), so that nothing is left even of a killed process. Where the file system or
// the kernel has no such files it grows under a hidden name, and what a killed process left of
// those goes when the next one is begun there. Dropped, it leaves nothing. One thread at a time.
class PendingFile {
 public:
  enum class Growth { kUnnamed, kHidden }; // kHidden for tests: do not even try the other
  // `path` is where it is to be; its directory must exist.
  static base::Result<PendingFile> create(const std::string& path,
                                          Growth growth = Growth::kUnnamed);
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
  // first free "stem-2.ending" and so on. Returns the name; one that it has already it keeps.
  base::Result<std::string> commit(base::Replace replace);
  // The same under another name in the same directory.
  base::Result<std::string> commit_as(const std::string& path, base::Replace replace);

  // For reading back; owned here.
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  PendingFile() = default;
  bool open_unnamed();
  base::Status open_hidden();
  // A hard link at `name`; false where that exists.
  base::Result<bool> link_at(const std::string& name) const;
  base::Result<std::string> replace();
  base::Result<std::string> give_name(base::Replace replace_old);

  std::string path_;
  std::string hidden_;    // the name that it has meanwhile; empty: none
  std::string committed_; // the name that it got; empty: none yet
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

} // namespace jprof::plugin
