// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/base/timestamp.h"
#include "lib/base/ulid.h"
#include "lib/capture/bundle.h"
#include "lib/capture/capture_id.h"
#include "lib/formats/format_writer.h"
#include "lib/kube/cluster_label.h"
#include "plugin/capture/capture_store.h"
#include "plugin/capture/missing_files.h"
#include "plugin/capture/output_plan.h"
#include "plugin/capture/schedule.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/pod_access_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/run_captures.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

struct RecordOptions {
  kube::AccessOptions access;
  std::string target;
  std::string selector;
  std::uint64_t max_pods = 1;
  std::string container;
  std::uint32_t pid = 0;
  std::string duration = "60s";
  std::string interval;
  std::string event = "cpu";
  std::string engine;
  std::string walker;
  bool leave_behind = false;
  std::vector<std::string> outputs;
  std::string threads; // "", "thread" or "pool"
  std::string store;
  std::string store_timeout = "60s";
  std::string cluster_name;
  std::string cause;
  bool join = false;
  bool dry_run = false;
  PodAccessFlags pod_access;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// When and why: a CronJob's run is the same capture each time it is tried.
struct Occasion {
  std::chrono::system_clock::time_point time;
  bool scheduled = false;
};

Occasion find_occasion(const kube::ClusterAccess& access) {
  std::string job = variable("JPROF_JOB_NAME");
  if (job.empty() && access.in_cluster) {
    job = job_of_pod(variable("HOSTNAME"));
  }
  if (const auto time = scheduled_time(job)) {
    return {*time, true};
  }
  return {std::chrono::system_clock::now(), false};
}

std::string image_digest(const std::string& image_id) {
  const std::size_t at = image_id.find("sha256:");
  return at == std::string::npos ? std::string() : image_id.substr(at);
}

// The request, without what differs from pod to pod.
Result<protocol::RecordRequest> make_request(const RecordOptions& options) {
  protocol::RecordRequest out;
  JPROF_TRY_ASSIGN(out.duration, base::parse_duration(options.duration));
  if (!options.interval.empty()) {
    JPROF_TRY_ASSIGN(out.interval, base::parse_duration(options.interval));
  }
  if (out.duration.count() <= 0 || out.interval.count() < 0) {
    return base::make_failure(ErrorCode::kUsage, "--duration and --interval must be above zero",
                              "give them with their units: --duration 30s --interval 10ms");
  }
  out.event = options.event;
  out.engine = options.engine;
  out.walker = options.walker;
  out.leave_behind = options.leave_behind;
  out.pid = options.pid;
  out.cause = options.cause;
  out.join = options.join;
  return out;
}

base::Status fill_pod(protocol::RecordRequest& request, const kube::Pod& pod,
                      const RecordOptions& options, const kube::ClusterAccess& access,
                      const Occasion& occasion) {
  JPROF_TRY_ASSIGN(const kube::Container* target, kube::find_target(pod, options.container));
  protocol::PodFacts& facts = request.pod;
  facts.cluster = options.cluster_name.empty() ? kube::cluster_label(access) : options.cluster_name;
  facts.namespace_name = pod.namespace_name;
  facts.pod = pod.name;
  facts.pod_uid = pod.uid;
  facts.node = pod.node;
  facts.workload_kind = pod.workload_kind;
  facts.workload = pod.workload;
  // kubectl's default container, if there is one; otherwise a JVM in any container will do.
  const bool named = !options.container.empty() || (options.pid == 0 && target != nullptr &&
                                                    target->name == pod.default_container);
  if (named) {
    request.container_id = kube::runtime_id(*target);
  }
  if (target != nullptr) {
    facts.container = target->name;
    facts.image = target->image;
    facts.image_digest = image_digest(target->image_id);
  }
  request.requester = requester(access);
  request.request_time = base::format_utc(occasion.time);
  request.trigger = occasion.scheduled ? "schedule" : "manual";
  if (occasion.scheduled) {
    request.id = capture::schedule_id(request.request_time, pod.uid, facts.container);
  } else {
    JPROF_TRY_ASSIGN(request.id, base::make_ulid(occasion.time));
  }
  return {};
}

// The outputs of one pod with their paths; a store needs the recording itself as well.
std::vector<Output> outputs_of(const std::vector<Output>& plan, const RecordOptions& options,
                               const kube::Pod& pod, std::chrono::system_clock::time_point time,
                               bool several) {
  std::vector<Output> out = plan;
  const auto has = [&out](std::string_view format) {
    return std::any_of(out.begin(), out.end(),
                       [format](const Output& output) { return output.format == format; });
  };
  if (!options.store.empty()) {
    for (const std::string_view format : {std::string_view("html"), capture::kRecordingFormat}) {
      if (!has(format)) {
        out.push_back({std::string(format), "", Output::Keep::kUnlessStored});
      }
    }
  }
  // Everything else is made here, from the recording; the pod sends nothing else.
  if (!has(capture::kRecordingFormat)) {
    const std::string& first = out.front().path;
    out.push_back({std::string(capture::kRecordingFormat),
                   first.empty() ? "" : recording_path(out.front()), Output::Keep::kNever});
  }
  for (Output& output : out) {
    if (output.path.empty()) {
      output.path = default_path(pod.name, time_label(time), output.format);
    } else if (several) {
      output.path = path_for_pod(output.path, output.format, pod.name);
    }
  }
  return out;
}

Result<PodCapture> plan_pod(const kube::Pod& pod, const protocol::RecordRequest& request,
                            const std::vector<Output>& plan, const RecordOptions& options,
                            const kube::ClusterAccess& access, const Occasion& occasion,
                            bool several) {
  JPROF_TRY_ASSIGN(const PodAccessOptions how,
                   pod_access_options(options.pod_access, occasion.scheduled));
  PodCapture out;
  out.pod = pod;
  out.request.kind = protocol::RequestKind::kRecord;
  out.request.record = request;
  // What the user may have mistyped is checked before what the pod may lack.
  JPROF_TRY(fill_pod(out.request.record, pod, options, access, occasion));
  JPROF_TRY_ASSIGN(const kube::Container* target, kube::find_target(pod, options.container));
  JPROF_TRY_ASSIGN(out.access, find_access(pod, target, how));
  out.force = how.force;
  out.request.record.force = how.force;
  out.request.record.pod_memory = pod.memory_limit.value_or(0);
  out.outputs = outputs_of(plan, options, pod, occasion.time, several);
  JPROF_TRY(check_places(out.outputs));
  for (const Output& output : out.outputs) {
    if (!is_derived(output.format)) {
      out.request.record.formats.push_back(output.format);
    }
  }
  out.threads = formats::thread_roots(options.threads);
  out.replace = !options.outputs.empty();
  out.store_url = options.store;
  JPROF_TRY_ASSIGN(out.store_patience, store_patience(options.store_timeout));
  return out;
}

Result<int> record(const RecordOptions& options, bool json) {
  if (options.target.empty() == options.selector.empty()) {
    return base::make_failure(
        ErrorCode::kUsage,
        options.target.empty() ? "which pod?" : "a target and --selector exclude each other",
        "kubectl jprof POD, kubectl jprof deploy/NAME, or kubectl jprof record "
        "-l SELECTOR");
  }
  JPROF_TRY_ASSIGN(const protocol::RecordRequest request, make_request(options));
  JPROF_TRY_ASSIGN(const std::vector<Output> plan, plan_outputs(options.outputs));
  JPROF_TRY(try_store(options.store, options.store_timeout, json));
  JPROF_TRY_ASSIGN(std::unique_ptr<kube::KubeClient> client, connect(options.access));
  const kube::ClusterAccess& access = client->access();
  const Occasion occasion = find_occasion(access);
  JPROF_TRY_ASSIGN(const Targets targets,
                   find_targets(*client, {.target = options.target,
                                          .selector = options.selector,
                                          .max_pods = options.max_pods,
                                          .seed = base::format_utc(occasion.time)}));
  std::vector<PodCapture> captures;
  std::vector<PodReport> refused;
  for (const kube::Pod& pod : targets.pods) {
    Result<PodCapture> one =
        plan_pod(pod, request, plan, options, access, occasion, targets.pods.size() > 1);
    if (one) {
      captures.push_back(std::move(*one));
    } else if (targets.pods.size() == 1) {
      return base::fail(std::move(one).error());
    } else {
      refused.push_back(refused_report(pod, std::move(one).error()));
    }
  }
  if (options.pod_access.explain && !json) {
    for (const PodCapture& capture : captures) {
      std::fputs(explain(capture.pod, capture.access).c_str(), stderr);
    }
  }
  if (options.leave_behind && !options.walker.empty() && options.walker != "vmstructs") {
    std::fputs("note: this walker opens JVMTI: on JDK 21 and later mounts of virtual threads cost "
               "some 20 to 30 % more until the JVM ends\n",
               stderr);
  }
  if (options.dry_run) {
    print_plan(captures, refused, json);
    return worst_exit_code(refused);
  }
  return run_captures(std::move(client), captures, std::move(refused), targets.matching, json);
}

void add_record_options(cli::Command command, RecordOptions& options) {
  command.option("target", options.target, "POD, pod/NAME, or deploy|sts|ds|rs|job/NAME");
  command.option("-d,--duration", options.duration, "How long, with a unit; default 60s");
  command.option("-c,--container", options.container,
                 "Container of the JVM; default: kubectl's choice, or the pod's only JVM");
  command.option("--pid", options.pid, "The JVM's pid as the sidecar sees it");
  command.option("-l,--selector", options.selector, "Pods by their labels instead of a name");
  command.option("--max-pods", options.max_pods, "How many of the pods that match; default 1")
      .between(1, 64);
  command.option("--event", options.event, "cpu (default)");
  command.option("--interval", options.interval,
                 "Interval between samples; default 10ms of CPU time");
  command
      .option("--engine", options.engine,
              "What decides when to sample: auto (default), cpu-timer, or perf-clock, which keeps "
              "intervals below two kernel ticks, where it is allowed")
      .one_of({"auto", "cpu-timer", "perf-clock"});
  command
      .option("--walker", options.walker,
              "What walks the stacks: vmstructs (default, jprof's own), or, to see how they "
              "differ, asgct, jvmti, jmx")
      .one_of({"vmstructs", "asgct", "jvmti", "jmx"});
  command.flag("--leave-behind", options.leave_behind,
               "Accept that asgct, jvmti and jmx make mounts of virtual threads cost some 20 to 30 "
               "% more until the JVM ends (JDK 21 and later); the sidecar's allow: must name it");
  command
      .option("-o,--output", options.outputs,
              "File whose ending gives the format; repeatable. Default: a page in the working "
              "directory")
      .repeated();
  command.word_flag("--threads", options.threads, {"thread", "pool"}, formats::kThreadsHelp);
  command.option(
      "--store", options.store,
      "Store the capture at file:///dir or s3://bucket/prefix; tried before the capture starts");
  command.option("--store-timeout", options.store_timeout,
                 "Give up on a store that is silent for this long; default 60s");
  command
      .option("--cluster-name", options.cluster_name,
              "Name of the cluster in the store; default: derived from its certificate authority "
              "(ca-...)")
      .environment("JPROF_CLUSTER");
  command.option("--cause", options.cause, "Reason, for the capture's manifest");
  command.flag("--join", options.join,
               "If this JVM is being captured already, wait for that result");
  command.flag("--dry-run", options.dry_run, "Say what would be done, and do nothing");
}

} // namespace

void add_record(cli::Program& program) {
  auto options = std::make_shared<RecordOptions>();
  cli::Command command = program.add(
      {.name = "record",
       .summary = "Profile pods for a while; also what a bare POD means",
       .examples = "  kubectl jprof checkout-7d9f --duration 60s\n"
                   "  kubectl jprof checkout-7d9f -n shop -o out.html -o out.collapsed\n"
                   "  kubectl jprof deploy/checkout --store s3://profiles/shop\n"
                   "  kubectl jprof record -l app=checkout --max-pods 3 --duration 30s\n"},
      [options, &program] { return record(*options, program.json()); });
  add_record_options(command, *options);
  add_pod_access_options(command, options->pod_access);
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
