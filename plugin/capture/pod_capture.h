// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"
#include "lib/capture/manifest.h"
#include "lib/formats/format_writer.h"
#include "lib/kube/kube_client.h"
#include "lib/kube/pod.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "plugin/capture/capture_run.h"
#include "plugin/capture/output_plan.h"
#include "plugin/capture/pod_endings.h"
#include "plugin/capture/pod_entry.h"
#include "plugin/cluster/pod_access.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace jprof::plugin {

// One pod, one capture: what is requested, and where its files go.
struct PodCapture {
  kube::Pod pod;
  PodAccess access;   // to the container in which the session runs
  bool force = false; // even if memory is short
  protocol::Request request;
  std::vector<Output> outputs;                                // with paths
  formats::ThreadRoots threads = formats::ThreadRoots::kNone; // of what is derived here
  bool replace = false;  // the user named the paths, so existing files are replaced
  std::string store_url; // empty: none
  // How long the store may be silent before jprof gives up.
  std::chrono::milliseconds store_patience{60'000};
};

struct WrittenFile {
  std::string path;
  std::string format;
  std::uint64_t bytes = 0;
};

// The result. `error` has code kInterrupted, kBusy and so on, or is empty; a partial or unstored
// capture has both files and an error (exit codes 6 and 7).
struct PodReport {
  std::string pod;
  std::string namespace_name;
  std::string container;
  std::string id;
  std::optional<base::Error> error;
  std::vector<WrittenFile> files;
  std::string stored;                 // where in the store
  std::string stored_note;            // what could not be verified there; "" if nothing
  std::vector<MadeContainer> made;    // ephemeral containers that were added
  std::vector<ContainerEnding> ended; // what ended in the pod while the capture ran
  base::Json manifest = base::Json::object();

  int exit_code() const;
  base::Json to_json() const;
};

// For a pod in which no capture could be started.
PodReport refused_report(const kube::Pod& pod, base::Error error);

// Runs it to its end on the calling thread.
PodReport run_pod_capture(kube::KubeClient& client, const PodCapture& capture,
                          const Interrupt& interrupt, const ProgressCallback& on_progress);

// Several reports are as bad as the worst of them.
int worst_exit_code(const std::vector<PodReport>& reports);

} // namespace jprof::plugin
