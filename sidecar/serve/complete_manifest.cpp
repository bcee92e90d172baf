// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/complete_manifest.h"

#include "lib/base/timestamp.h"
#include "sidecar/record/capture_outcome.h"

namespace jprof::serve {

capture::Manifest complete_manifest(capture::Manifest draft,
                                    const record::CaptureOutcome& outcome) {
  draft.start_time = base::format_utc(outcome.start);
  draft.partial = outcome.partial;
  draft.partial_reason =
      outcome.partial_reason + (outcome.cure.empty() ? "" : " (" + outcome.cure + ")");
  draft.measured = capture::measured_json(record::measured_of(outcome));
  for (const record::CapturedFile& file : outcome.files) {
    draft.files.push_back({file.name, file.format, file.bytes, file.sha256});
  }
  return draft;
}

} // namespace jprof::serve
