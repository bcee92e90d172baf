// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <string>
#include <vector>

namespace jprof::record {

// The private directory in which a command keeps its recording until it is complete. It is locked
// as long as this object lives, which distinguishes it from one whose owner was killed. Movable.
class WorkDirectory {
 public:
  // A new name in `parent`: `.jprof-XXXXXXXXXX`, which does not say who made it.
  static base::Result<std::string> name_in(const std::string& parent);
  // Makes and locks `path`, which name_in() gave. kUsage if its parent is not a folder, kIo if that
  // cannot be written. A file system without locks is not a failure: then the directory is simply
  // not locked.
  static base::Result<WorkDirectory> make(const std::string& path);

  WorkDirectory(WorkDirectory&& other) noexcept;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  // Removes the directory and its content, unless it is kept.
  ~WorkDirectory();

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }
  // Whether it holds a recording.
  bool holds_recording() const;

 private:
  WorkDirectory(std::string path, base::UniqueFd lock);

  std::string path_; // empty: not ours to remove
  base::UniqueFd lock_;
};

// Removes the work directories in `parent` that a killed process of our uid left behind at least a
// minute ago with nothing to read in them: no file, or only a recording without a sample.
void remove_empty_leftovers(const std::string& parent);

// The recordings in work directories in `parent` that belong to our uid and that no living process
// has locked, at most eight, and none that ends before its first sample. Somebody else may fill the
// folder: at most 4,096 names are examined, and links are not followed.
std::vector<std::string> abandoned_recordings(const std::string& parent);

} // namespace jprof::record
