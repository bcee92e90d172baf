// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_progress.h"

#include "lib/base/encoding.h"
#include "lib/capture/progress_text.h"

namespace jprof::record {
namespace {

constexpr std::size_t kNameBytes = 60;

std::string recording_text(const CaptureProgress& progress) {
  std::string text =
      capture::recording_text(progress.elapsed, progress.duration, progress.samples, progress.lost);
  if (!progress.hottest.empty()) {
    text += ", hottest " + base::printable(progress.hottest[0].name, kNameBytes);
  }
  return text;
}

} // namespace

std::string progress_text(const CaptureProgress& progress) {
  switch (progress.phase) {
  case CapturePhase::kFinding:
    return "looking for the JVM";
  case CapturePhase::kAttaching:
    return "attaching";
  case CapturePhase::kRecording:
    return recording_text(progress);
  case CapturePhase::kSealing:
    return "sealing";
  case CapturePhase::kRendering:
    return "rendering";
  case CapturePhase::kDone:
    break;
  }
  return {};
}

} // namespace jprof::record
