// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/conversation/ask.h"
#include "plugin/terminal/table.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace jprof::plugin {
namespace {

using base::Json;
using base::Result;

struct ListOptions {
  kube::AccessOptions access;
  std::string target;
  std::string selector;
};

std::string sidecar_words(const kube::Pod& pod) {
  const kube::Container* ours = pod.find("jprof");
  if (ours == nullptr) {
    return "none";
  }
  if (ours->state == kube::Container::State::kRunning) {
    return "running";
  }
  return ours->state_reason.empty() ? "not running" : ours->state_reason;
}

// Our running ephemeral containers, by name: if there is one, a capture needs no new one.
std::string ephemeral_names(const kube::Pod& pod) {
  std::string out;
  for (const kube::Container& container : pod.containers) {
    if (container.kind == kube::Container::Kind::kEphemeral && kube::is_jprof(container) &&
        container.state == kube::Container::State::kRunning) {
      out += (out.empty() ? "" : ",") + container.name;
    }
  }
  return out;
}

std::string target_names(const kube::Pod& pod) {
  std::string out;
  for (const kube::Container& container : pod.containers) {
    if (container.kind == kube::Container::Kind::kApp && container.name != "jprof") {
      out += (out.empty() ? "" : ",") + container.name;
    }
  }
  return out;
}

std::string workload_words(const kube::Pod& pod) {
  return pod.workload.empty() ? "" : pod.workload_kind + "/" + pod.workload;
}

Result<int> list_pods(kube::KubeClient& client, const std::string& selector, bool json) {
  JPROF_TRY_ASSIGN(const std::vector<kube::Pod> pods,
                   client.list_pods(client.access().namespace_name, selector));
  std::vector<std::vector<std::string>> rows{
      {"POD", "PHASE", "SIDECAR", "EPHEMERAL", "CONTAINERS", "WORKLOAD"}};
  Json list = Json::array();
  for (const kube::Pod& pod : pods) {
    const std::string ephemeral = ephemeral_names(pod);
    rows.push_back({pod.name, pod.phase, sidecar_words(pod), ephemeral.empty() ? "none" : ephemeral,
                    target_names(pod), workload_words(pod)});
    list.push_back({{"namespace", pod.namespace_name},
                    {"pod", pod.name},
                    {"phase", pod.phase},
                    {"sidecar", sidecar_words(pod)},
                    {"ephemeral", ephemeral},
                    {"containers", target_names(pod)},
                    {"workload", workload_words(pod)},
                    {"canBeProfiled", kube::find_sidecar(pod).has_value()}});
  }
  const std::string text =
      json ? base::dump_json({{"ok", true}, {"pods", list}}) + "\n" : table_text(std::move(rows));
  std::fputs(text.c_str(), stdout);
  return 0;
}

std::string number_text(const Json& object, const char* key) {
  return std::to_string(base::json_int(object, key));
}

// For -c; "?" if neither the API nor the sidecar knows.
std::string container_of(const kube::Pod& pod, const std::string& runtime_id) {
  const auto found =
      std::find_if(pod.containers.begin(), pod.containers.end(),
                   [&](const kube::Container& one) { return kube::runtime_id(one) == runtime_id; });
  return runtime_id.empty() || found == pod.containers.end() ? "?" : found->name;
}

// What the pod says about itself, foreign to the last byte: table_text makes it harmless.
void print_pod(const kube::Pod& pod, const Json& targets, const Json& captures) {
  std::vector<std::vector<std::string>> jvms{{"PID", "JAVA", "CONTAINER", "READY", "MAIN"}};
  for (const Json& jvm : targets) {
    jvms.push_back({number_text(jvm, "pid"), base::json_string(jvm, "javaVersion"),
                    container_of(pod, base::json_string(jvm, "containerId")),
                    base::json_bool(jvm, "ready") ? "yes" : base::json_string(jvm, "reason", "no"),
                    base::json_string(jvm, "main")});
  }
  std::fputs(jvms.size() > 1 ? table_text(std::move(jvms)).c_str() : "no JVM is visible\n", stdout);
  if (captures.empty()) {
    return;
  }
  std::vector<std::vector<std::string>> kept{{"CAPTURE", "STATE", "BYTES", "CHANGED", "REQUESTER"}};
  for (const Json& capture : captures) {
    kept.push_back({base::json_string(capture, "id"), base::json_string(capture, "state"),
                    number_text(capture, "bytes"), base::json_string(capture, "changed"),
                    base::json_string(capture, "requester")});
  }
  std::printf("\n%s", table_text(std::move(kept)).c_str());
}

Result<int> list_pod(kube::KubeClient& client, const std::string& target, bool json) {
  JPROF_TRY_ASSIGN(
      const Targets found,
      find_targets(client, {.target = target, .selector = {}, .max_pods = 1, .seed = {}}));
  const kube::Pod& pod = found.pods.front();
  JPROF_TRY_ASSIGN(const kube::Container* sidecar, kube::find_sidecar(pod));
  JPROF_TRY_ASSIGN(const std::unique_ptr<Interrupt> interrupt, Interrupt::create());
  JPROF_TRY_ASSIGN(const std::unique_ptr<Conversation> conversation,
                   open_conversation(client, pod, sidecar->name, *interrupt));
  JPROF_TRY_ASSIGN(const protocol::ResultMessage targets,
                   ask(*conversation, protocol::RequestKind::kTargets));
  JPROF_TRY_ASSIGN(const protocol::ResultMessage kept,
                   ask(*conversation, protocol::RequestKind::kList));
  if (json) {
    const Json out = {{"ok", true},
                      {"namespace", pod.namespace_name},
                      {"pod", pod.name},
                      {"jvms", targets.targets},
                      {"captures", kept.captures}};
    std::printf("%s\n", base::dump_json(out).c_str());
  } else {
    print_pod(pod, targets.targets, kept.captures);
  }
  return 0;
}

Result<int> list(const ListOptions& options, bool json) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<kube::KubeClient> client, connect(options.access));
  return options.target.empty() ? list_pods(*client, options.selector, json)
                                : list_pod(*client, options.target, json);
}

} // namespace

void add_list(cli::Program& program) {
  auto options = std::make_shared<ListOptions>();
  cli::Command command =
      program.add({.name = "list",
                   .summary = "Pods that can be profiled; or one pod's JVMs and kept captures",
                   .examples = "  kubectl jprof list -n shop\n"
                               "  kubectl jprof list -n shop -l app=checkout\n"
                               "  kubectl jprof list -n shop checkout-7d9f\n"},
                  [options, &program] { return list(*options, program.json()); });
  command.option("target", options->target, "POD, pod/NAME, deploy/NAME, ...: look inside");
  command.option("-l,--selector", options->selector, "Only pods with these labels");
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
