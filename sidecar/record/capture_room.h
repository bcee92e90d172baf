// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/capture_job.h"

#include <algorithm>
#include <cstdint>

namespace jprof::record {

// What a capture's files may take: never more than was asked for, since the volume's limit applies
// to their sum, and the kubelet evicts a pod that exceeds it.
struct Room {
  std::uint64_t files = UINT64_MAX;          // all but the manifest
  std::uint64_t recording_ends = UINT64_MAX; // its limit: derived files need room, too
};

inline Room room_of(const CaptureRequest& request) {
  constexpr std::uint64_t kManifest = 64U << 10;
  if (request.max_bytes == 0) {
    return {};
  }
  Room room;
  room.files = request.max_bytes - std::min(kManifest, request.max_bytes / 4);
  // The last chunks are written after it has been asked to end.
  room.recording_ends = request.formats.empty() ? room.files / 8 * 7 : room.files / 2;
  return room;
}

} // namespace jprof::record
