// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/process.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::container {

// How paths are resolved below a root: kAuto is openat2(2) with RESOLVE_IN_ROOT, and the walk if
// the kernel (< 5.6) or a seccomp profile lacks openat2. The walk opens component by component,
// with O_PATH | O_NOFOLLOW, and follows symbolic links itself.
enum class Resolver { kAuto, kWalk };
enum class Links { kFollow, kRefuseLast };

// The file system as a hostile process sees it. Every path is resolved below its root, whatever the
// process has planted: absolute links, "..", magic links. Anything that is not a regular file, or
// is one of the kernel's (/proc, /sys), is never opened for reading, so no FIFO or device blocks
// us. A file system that never answers does block: what only resolves is for a step with a deadline
// (as_target.h), what reads is one itself, and once that has timed out no other is tried. Movable;
// one thread at a time.
class TargetRoot {
 public:
  // The root of a process, by the rights that we have now (as_target.h changes them).
  static base::Result<TargetRoot> open(const Process& process);
  // Takes an O_PATH directory descriptor, e.g. one that a child process handed over.
  static TargetRoot from(base::UniqueFd root, Resolver resolver = Resolver::kAuto);

  // An O_PATH descriptor of whatever is there.
  base::Result<base::UniqueFd> resolve(std::string_view path, Links links = Links::kFollow) const;
  // O_PATH, and certainly a directory.
  base::Result<base::UniqueFd> open_directory(std::string_view path) const;
  // Read-only; kInvalidData if it is not a regular file, or one of the kernel's.
  base::Result<base::UniqueFd> open_regular(std::string_view path) const;
  // At most `limit_bytes`; a longer file is kLimit.
  base::Result<std::string> read(std::string_view path, std::size_t limit_bytes) const;
  int fd() const { return root_.get(); }

 private:
  TargetRoot(base::UniqueFd root, Resolver resolver)
      : root_(std::move(root)), resolver_(resolver) {}
  base::Result<base::UniqueFd> open_regular_here(std::string_view path) const;

  base::UniqueFd root_;
  Resolver resolver_;
  mutable bool silent_ = false; // a file of it was not opened in time
};

// Really opens what an O_PATH descriptor refers to: that file, without resolving a path again. For
// a regular file or directory that was examined first. Works in a non-dumpable process.
base::Result<base::UniqueFd> reopen(int path_fd, int flags);
// "/proc/self/fd/N": how bind(2), connect(2) and other calls without an *at variant reach a held
// descriptor.
std::string descriptor_path(int fd);

} // namespace jprof::container
