// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "plugin/capture/pod_endings.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/conversation/ask.h"
#include "plugin/terminal/table.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

namespace jprof::plugin {
namespace {

using base::Json;
using base::Result;
using Kind = kube::Container::Kind;
using State = kube::Container::State;

constexpr std::chrono::seconds kMaxEndDelay{
    15}; // the kubelet looks once a second, a busy one later

struct GcOptions {
  kube::AccessOptions access;
  std::string target;
  std::string selector;
};

// One of our ephemeral containers, and what became of it.
struct Remnant {
  std::string pod;
  std::string container;
  std::string state; // "ended before", "ended now", "told to end", "kept"
  base::Error why{}; // of "kept"
};

base::Status tell_to_end(kube::KubeClient& client, const kube::Pod& pod,
                         const std::string& container, const Interrupt& interrupt) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<Conversation> conversation,
                   open_conversation(client, pod, container, interrupt));
  JPROF_TRY(ask(*conversation, protocol::RequestKind::kQuit));
  return {};
}

std::vector<Remnant> sweep(kube::KubeClient& client, const std::vector<kube::Pod>& pods,
                           const Interrupt& interrupt) {
  std::vector<Remnant> out;
  for (const kube::Pod& pod : pods) {
    for (const kube::Container& container : pod.containers) {
      if (container.kind != Kind::kEphemeral || !kube::is_jprof(container)) {
        continue;
      }
      Remnant one{pod.name, container.name, "ended before"};
      if (container.state != State::kTerminated) {
        const base::Status told = tell_to_end(client, pod, container.name, interrupt);
        one.state = told ? "told to end" : "kept";
        one.why = told ? base::Error{} : told.error();
      }
      out.push_back(std::move(one));
    }
  }
  // Only now, so that many can end at the same time.
  for (Remnant& one : out) {
    const auto pod = std::find_if(pods.begin(), pods.end(),
                                  [&one](const kube::Pod& other) { return other.name == one.pod; });
    // Until the API shows it too, the next command would still take the container for a running
    // one.
    if (one.state == "told to end" &&
        await_end(client, *pod, one.container, interrupt, kMaxEndDelay)) {
      one.state = "ended now";
    }
  }
  return out;
}

int print(const std::vector<Remnant>& remnants, bool json) {
  int code = 0;
  std::vector<std::vector<std::string>> rows{{"POD", "CONTAINER", "STATE", "WHY"}};
  Json list = Json::array();
  for (const Remnant& one : remnants) {
    const bool kept = one.state == "kept";
    code = kept && code == 0 ? base::exit_code(one.why.code) : code;
    rows.push_back({one.pod, one.container, one.state, kept ? one.why.message : ""});
    list.push_back({{"pod", one.pod}, {"container", one.container}, {"state", one.state}});
    if (kept) {
      list.back()["reason"] = base::reason_word(one.why.code);
      list.back()["message"] = one.why.message;
    }
  }
  if (json) {
    const Json out = {{"ok", code == 0}, {"exitCode", code}, {"containers", list}};
    std::printf("%s\n", base::dump_json(out).c_str());
    return code;
  }
  if (remnants.empty()) {
    std::fputs("nothing of jprof is left in these pods\n", stdout);
    return 0;
  }
  std::fputs(table_text(std::move(rows)).c_str(), stdout);
  std::fputs("Kubernetes keeps the record of an ephemeral container until its pod is gone\n",
             stdout);
  return code;
}

Result<int> gc(const GcOptions& options, bool json) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<kube::KubeClient> client, connect(options.access));
  JPROF_TRY_ASSIGN(const std::vector<kube::Pod> pods,
                   pods_of(*client, options.target, options.selector));
  JPROF_TRY_ASSIGN(const std::unique_ptr<Interrupt> interrupt, Interrupt::create());
  return print(sweep(*client, pods, *interrupt), json);
}

} // namespace

void add_gc(cli::Program& program) {
  auto options = std::make_shared<GcOptions>();
  cli::Command command = program.add(
      {.name = "gc",
       .summary = "End jprof's idle ephemeral containers now, and say what is left",
       .examples = "  kubectl jprof gc -n shop                # every pod of the namespace\n"
                   "  kubectl jprof gc checkout-7d9f -n shop\n"},
      [options, &program] { return gc(*options, program.json()); });
  command.option("target", options->target, "POD, pod/NAME, deploy/NAME, ...; default: all");
  command.option("-l,--selector", options->selector, "Only pods with these labels");
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
