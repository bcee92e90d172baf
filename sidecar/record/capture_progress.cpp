// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_progress.h"

#include "lib/base/counted.h"
#include "lib/base/encoding.h"

#include <array>
#include <cstdio>

namespace jprof::record {
namespace {

constexpr std::size_t kNameBytes = 60;

double seconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e9;
}

std::string recording_text(const CaptureProgress& progress) {
  std::array<char, 96> times{};
  std::snprintf(times.data(), times.size(), "%.0f of %.3g s, ", seconds(progress.elapsed),
                seconds(progress.duration));
  std::string text = times.data() + base::counted(progress.samples, "sample");
  if (progress.lost > 0) {
    text += ", " + std::to_string(progress.lost) + " lost";
  }
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
