// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"
#include "lib/kube/cluster_access.h"

#include <chrono>
#include <string>
#include <string_view>

namespace jprof::kube {

// What an exec credential plugin gave (kubernetes.io/docs/reference/config-api/
// client-authentication.v1).
struct PluginCredentials {
  base::Secret token;
  std::string client_certificate_pem;
  base::Secret client_key_pem;
};

// Runs access.exec (REQUIRES: it is set): its stdin and stderr are ours if its mode allows it, so
// that it can ask for a second factor. kUnauthenticated, with its install hint, if it is missing,
// fails, takes longer than `timeout`, or prints no credentials.
base::Result<PluginCredentials>
run_exec_plugin(const ClusterAccess& access,
                std::chrono::milliseconds timeout = std::chrono::minutes(5));

// The reply alone, for tests and fuzzing. `api_version` is what was asked for.
base::Result<PluginCredentials> parse_exec_credential(std::string_view text,
                                                      std::string_view api_version);
// KUBERNETES_EXEC_INFO for the plugin.
std::string exec_info(const ClusterAccess& access, bool interactive);

} // namespace jprof::kube
