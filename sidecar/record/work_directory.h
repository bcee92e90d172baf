// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <string>
#include <vector>

namespace jprof::record {

// The private directory in which a command keeps its recording until it is done. It is locked as
// long as this object lives, so that others can tell it from one whose owner was killed. Movable.
class WorkDirectory {
 public:
  // A new name in `parent`: `.jprof-XXXXXXXXXX`, which says nothing about who made it.
  static base::Result<std::string> name_in(const std::string& parent);
  // Makes and locks `path`, which name_in() gave. kUsage where its parent is no folder, kIo where
  // it cannot be written. A file system without locks is no failure: then nobody can tell.
  static base::Result<WorkDirectory> make(const std::string& path);

  WorkDirectory(WorkDirectory&& other) noexcept;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  // Removes the directory and what is in it, unless it is kept.
  ~WorkDirectory();

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }
  // Whether something has been recorded into it.
  bool holds_recording() const;

 private:
  WorkDirectory(std::string path, base::UniqueFd lock);

  std::string path_; // empty: not ours to remove
  base::UniqueFd lock_;
};

// Removes the work directories of `parent` that a killed process of our uid left behind with
// nothing to read in them: no file, or a recording without one sample and no other file, for a
// minute.
void remove_empty_leftovers(const std::string& parent);

// The recordings in work directories of `parent` that belong to our uid and that no living process
// has locked, at most eight; none that ends before its first sample. Somebody else may fill the
// folder: of its names 4,096 are looked at, and none is followed where it is a link.
std::vector<std::string> abandoned_recordings(const std::string& parent);

} // namespace jprof::record
