// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The requester of a capture makes its id, so that a retry is the same capture and not a second
// one. docs/formats/capture.md. A capture that a person requests gets a ULID (base::make_ulid).
namespace jprof::capture {

// A ULID, or 64 lower-case hexadecimal digits. What is no id is never used in a path.
bool is_capture_id(std::string_view text);

// For an alert: SHA-256 of its fingerprint, its startsAt as received, and the pod's uid.
std::string incident_id(std::string_view fingerprint, std::string_view starts_at,
                        std::string_view pod_uid);
// For a schedule: SHA-256 of the scheduled time (RFC 3339 UTC), the pod's uid and the container.
std::string schedule_id(std::string_view scheduled_time, std::string_view pod_uid,
                        std::string_view container);

} // namespace jprof::capture
