// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/jvm/target.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jprof::jvm {

struct HeapDumpOptions {
  // As in jattach's dumpheap after the path: "-live" (a full collection first, the JVM's default)
  // or "-all", then a gzip level, 1 to 9 (JDK 17 and later).
  std::vector<std::string> arguments;
  std::uint64_t max_bytes = std::uint64_t{1} << 40U; // a larger dump is removed: kLimit
  std::function<bool()> stopped = nullptr;           // see AttachLimits
};

// A heap dump, open for reading, that no longer has a name: closing it frees its space.
struct HeapDump {
  base::UniqueFd file;
  std::uint64_t bytes = 0;
};

// Lets the JVM write its heap into a file in its own /tmp (or another place that it can write to)
// and takes that file away. The JVM is asked nothing if twice its resident memory does not fit: a
// full file system, or the memory limit if it is a tmpfs, would be its end. Whatever goes wrong, no
// file stays; a JVM that is still writing when we give up writes into a file without a name, whose
// space is freed when it is done. kLimit (no space, or too large), kInterrupted, and the errors of
// run_command.
base::Result<HeapDump> take_heap_dump(const Target& target, const HeapDumpOptions& options,
                                      base::Deadline deadline);

} // namespace jprof::jvm
