// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "plugin/capture/pod_capture.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace jprof::plugin {

// --store and --store-timeout, before anything is captured: refuses whatever does not answer as a
// store (check_store), and reports on stderr while the store is silent. Nothing to do without a
// URL.
base::Status try_store(const std::string& store_url, const std::string& timeout, bool json);

// Runs captures in parallel, each on a thread and connection of its own, with progress on stderr,
// and prints the results (stdout), also of those that were `refused` before. `matching`: how many
// pods these were chosen from. Returns the exit code; or the Error of a single capture that brought
// nothing.
base::Result<int> run_captures(std::unique_ptr<kube::KubeClient> client,
                               const std::vector<PodCapture>& captures,
                               std::vector<PodReport> refused, std::size_t matching, bool json);

// --dry-run.
void print_plan(const std::vector<PodCapture>& captures, const std::vector<PodReport>& refused,
                bool json);

} // namespace jprof::plugin
