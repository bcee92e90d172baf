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
  // As jattach's dumpheap takes them after the path: "-live" (a full collection first, the JVM's
  // default) or "-all", then a level of gzip, 1 to 9 (JDK 17 and later).
  std::vector<std::string> arguments;
  std::uint64_t max_bytes = std::uint64_t{1} << 40U; // a larger dump is removed: kLimit
  std::function<bool()> stopped = nullptr;           // see AttachLimits
};

// A heap dump, open for reading, that has no name any more: closing it frees its room.
struct HeapDump {
  base::UniqueFd file;
  std::uint64_t bytes = 0;
};

// Lets the JVM write its heap into a file of its own /tmp (or another place that it can write) and
// takes that file away. Nothing is asked of the JVM where twice its resident memory does not fit:
// a full file system, or memory limit where it is a tmpfs, would be its end. Whatever goes wrong,
// no file stays; a JVM that still writes when we give up writes into one without a name, whose room
// comes back when it is done. kLimit (no room, or too large),
// kInterrupted, and the errors of run_command.
base::Result<HeapDump> take_heap_dump(const Target& target, const HeapDumpOptions& options,
                                      base::Deadline deadline);

} // namespace jprof::jvm
