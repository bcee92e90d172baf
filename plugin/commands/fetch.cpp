// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/capture/capture_id.h"
#include "lib/formats/format_writer.h"
#include "plugin/capture/capture_store.h"
#include "plugin/capture/output_plan.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/run_captures.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

struct FetchOptions {
  kube::AccessOptions access;
  std::string target;
  std::string id;
  std::vector<std::string> outputs;
  std::string threads; // "", "thread" or "pool"
  std::string store;
  std::string store_timeout = "60s";
};

// Every format that a sidecar may send, since only its answer shows which ones exist; with -o only
// those are kept. Without it, there is at least a page.
std::vector<Output> outputs_of(const FetchOptions& options, std::vector<Output> plan) {
  Output::Keep keep = Output::Keep::kIfSent;
  if (options.outputs.empty()) {
    plan.clear();
  } else {
    keep = options.store.empty() ? Output::Keep::kNever : Output::Keep::kUnlessStored;
  }
  for (const std::string& format : all_formats()) {
    const bool known = std::any_of(plan.begin(), plan.end(), [&format](const Output& output) {
      return output.format == format;
    });
    if (!known) {
      const bool page = options.outputs.empty() && format == "html";
      plan.push_back({format, default_path(options.target, options.id, format),
                      page ? Output::Keep::kAlways : keep});
    }
  }
  return plan;
}

Result<PodCapture> plan_fetch(kube::KubeClient& client, const FetchOptions& options) {
  JPROF_TRY_ASSIGN(const TargetName target, parse_target_name(options.target));
  if (!target.is_pod()) {
    return base::make_failure(
        ErrorCode::kUsage, "a capture is kept in one pod: name that pod",
        "kubectl jprof fetch POD ID; kubectl jprof list POD shows what a pod has");
  }
  if (!capture::is_capture_id(options.id)) {
    return base::make_failure(
        ErrorCode::kUsage, base::printable(options.id) + " is not the id of a capture",
        "kubectl jprof list " + base::printable(options.target) + " shows what the sidecar keeps");
  }
  JPROF_TRY_ASSIGN(const std::vector<Output> plan, plan_outputs(options.outputs));
  JPROF_TRY(check_places(plan));
  PodCapture out;
  JPROF_TRY_ASSIGN(out.pod, client.get_pod(client.access().namespace_name, target.name));
  JPROF_TRY_ASSIGN(const kube::Container* sidecar, kube::find_sidecar(out.pod));
  out.access.container = sidecar->name;
  out.request.kind = protocol::RequestKind::kFetch;
  out.request.fetch.id = options.id;
  out.outputs = outputs_of(options, plan);
  out.threads = formats::thread_roots(options.threads);
  out.replace = !options.outputs.empty();
  out.store_url = options.store;
  JPROF_TRY_ASSIGN(out.store_patience, store_patience(options.store_timeout));
  return out;
}

Result<int> fetch(const FetchOptions& options, bool json) {
  JPROF_TRY(try_store(options.store, options.store_timeout, json));
  JPROF_TRY_ASSIGN(std::unique_ptr<kube::KubeClient> client, connect(options.access));
  JPROF_TRY_ASSIGN(PodCapture capture, plan_fetch(*client, options));
  const std::vector<PodCapture> captures{std::move(capture)};
  return run_captures(std::move(client), captures, {}, 1, json);
}

} // namespace

void add_fetch(cli::Program& program) {
  auto options = std::make_shared<FetchOptions>();
  cli::Command command = program.add(
      {.name = "fetch",
       .summary = "Get a capture that a sidecar keeps, by its id",
       .examples = "  kubectl jprof list checkout-7d9f        # the ids\n"
                   "  kubectl jprof fetch checkout-7d9f 01JD6Z5T6V9GZ0P4X6N8Q2R7ST\n"
                   "  kubectl jprof fetch checkout-7d9f 01JD6Z5T6V9GZ0P4X6N8Q2R7ST -o out.html\n"},
      [options, &program] { return fetch(*options, program.json()); });
  command.option("pod", options->target, "POD or pod/NAME").required();
  command.option("id", options->id, "The capture").required();
  command
      .option("-o,--output", options->outputs,
              "File whose ending gives the format; repeatable. Default: every file there is, in "
              "the working directory")
      .repeated();
  command.word_flag("--threads", options->threads, {"thread", "pool"}, formats::kThreadsHelp);
  command.option("--store", options->store,
                 "Store the capture at file:///dir or s3://bucket/prefix");
  command.option("--store-timeout", options->store_timeout,
                 "Give up on a store that is silent for this long; default 60s");
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
