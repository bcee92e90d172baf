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

// --store and --store-timeout, before anything is captured: refuses what does not answer as a store
// (check_store), and says on stderr while it is silent. Nothing to do without a URL.
base::Status try_store(const std::string& store_url, const std::string& timeout, bool json);

// Runs captures at once, each on a thread and connection of its own, with progress on stderr, and
// prints what came of them (stdout) and of those `refused` before. `matching`: of how many pods
// these were chosen. Returns the exit code; the Error of a single capture that brought nothing.
base::Result<int> run_captures(std::unique_ptr<kube::KubeClient> client,
                               const std::vector<PodCapture>& captures,
                               std::vector<PodReport> refused, std::size_t matching, bool json);

// --dry-run.
void print_plan(const std::vector<PodCapture>& captures, const std::vector<PodReport>& refused,
                bool json);

} // namespace jprof::plugin
