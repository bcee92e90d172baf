// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/file.h"
#include "lib/profile/recording_summary.h"
#include "lib/profile/recording_writer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <sys/mman.h>

namespace jprof::profile {

// A recording's destination in memory, which refuses what it is given while it is full.
struct MemoryFile {
  std::string bytes;
  bool full = false;

  ByteSink sink() {
    return [this](std::string_view more) -> base::Status {
      if (full) {
        return base::errno_failure(ENOSPC, "cannot write x");
      }
      bytes += more;
      return {};
    };
  }
};

inline base::Result<RecordingSummary> summarize(const std::string& bytes) {
  const base::UniqueFd fd(::memfd_create("recording", MFD_CLOEXEC));
  EXPECT_TRUE(base::write_all(fd.get(), bytes, "recording"));
  return summarize_recording_fd(fd.get(), "recording");
}

} // namespace jprof::profile
