// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/capture/manifest.h"
#include "lib/config/sidecar_config.h"
#include "lib/protocol/request.h"

#include <chrono>

namespace jprof::serve {

// kNotAllowed unless the configuration's `allow` has this word.
base::Status check_allowed(const config::SidecarConfig& config, const std::string& word);

// Whether the configuration lets anybody ask for this: kNotAllowed, kLimit (naming the limit) or
// kUsage. Does not consider other captures: those are counted when the capture starts.
base::Status check_request(const config::SidecarConfig& config,
                           const protocol::RecordRequest& request);

// The same for a command to a JVM.
base::Status check_attach(const config::SidecarConfig& config,
                          const protocol::AttachRequest& request);

// The manifest, as far as the request and the configuration determine it. What the sidecar knows
// about its pod takes precedence over what the caller claims. A request without a usable time gets
// `now`.
capture::Manifest draft_manifest(const config::SidecarConfig& config,
                                 const protocol::RecordRequest& request,
                                 std::chrono::system_clock::time_point now);

} // namespace jprof::serve
