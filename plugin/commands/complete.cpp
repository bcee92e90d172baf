// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/kube/kube_config.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"

#include <cstdio>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

// By kubectl's convention: kubectl_complete-jprof gets the words, the last being the one
// to complete, and prints candidates, a line each, and at the end cobra's directive
// (kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins, "Using the command line runtime
// package").
namespace jprof::plugin {
namespace {

using Words = std::vector<std::string>;

constexpr unsigned kMaxSeconds = 2;  // a shell waits; no candidates are better than late ones
constexpr const char* kFiles = ":0"; // the shell's own completion
constexpr const char* kNoFiles = ":4";

// What was typed so far, as far as the candidates depend on it.
struct Line {
  std::string command; // "" before it is known
  std::string target;
  std::string previous; // the word before the last
  std::string last;
  bool fresh = true; // no word but options yet
  kube::AccessOptions access;
};

// What the named command, or the default one, takes.
std::optional<cli::Command> command_of(const cli::Program& program, const Line& line) {
  return program.find(line.command.empty() ? program.default_command() : line.command);
}

void note_option(Line& line, const std::string& flag, const std::string& value) {
  if (flag == "-n" || flag == "--namespace") {
    line.access.namespace_name = value;
  } else if (flag == "--context") {
    line.access.context = value;
  } else if (flag == "--kubeconfig") {
    line.access.kubeconfig = value;
  }
}

Line read_line(const cli::Program& program, const Words& words) {
  Line line;
  line.last = words.empty() ? "" : words.back();
  line.previous = words.size() > 1 ? words[words.size() - 2] : "";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    const auto command = command_of(program, line);
    if (word.starts_with("-")) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) {
        note_option(line, word.substr(0, equals), word.substr(equals + 1));
      } else if (command && command->takes_value(word) && i + 2 < words.size()) {
        note_option(line, word, words[++i]);
      }
      continue;
    }
    if (line.fresh && program.find(word)) {
      line.command = word;
    } else {
      line.target = word;
    }
    line.fresh = false;
  }
  return line;
}

Words pod_names(kube::KubeClient& client) {
  Words out;
  const auto pods = client.list_pods(client.access().namespace_name, "");
  if (pods) {
    for (const kube::Pod& pod : *pods) {
      if (can_be_profiled(pod)) {
        out.push_back(pod.name);
      }
    }
  }
  return out;
}

Words containers_of(kube::KubeClient& client, const std::string& target) {
  Words out;
  const auto name = parse_target_name(target);
  if (!name || !name->is_pod()) {
    return out;
  }
  const auto pod = client.get_pod(client.access().namespace_name, name->name);
  if (pod) {
    for (const kube::Container& container : pod->containers) {
      if (container.kind == kube::Container::Kind::kApp && !kube::is_jprof(container)) {
        out.push_back(container.name);
      }
    }
  }
  return out;
}

Words contexts_of() {
  Words out;
  const auto environment = kube::AccessEnvironment::of_process();
  const auto config = kube::load_kube_config_list(
      environment.kubeconfig.empty() ? environment.home + "/.kube/config" : environment.kubeconfig);
  if (config) {
    for (const auto& [name, context] : config->contexts) {
      out.push_back(name);
    }
  }
  return out;
}

struct Answer {
  Words candidates;
  const char* directive = kNoFiles;
};

// Candidates for the value of a flag.
Answer values_of(const Line& line) {
  const std::string& flag = line.previous;
  if (flag == "-o" || flag == "--output" || flag == "--kubeconfig" ||
      flag == "--certificate-authority") {
    return {{}, kFiles};
  }
  if (flag == "--context") {
    return {contexts_of()};
  }
  if (flag == "--ephemeral") {
    return {{"auto", "never", "always"}};
  }
  if (flag == "--engine") {
    return {{"auto", "cpu-timer", "perf-clock"}};
  }
  if (flag == "--walker") {
    return {{"vmstructs", "asgct", "jvmti", "jmx"}};
  }
  if ((flag == "-c" || flag == "--container") && !line.target.empty()) {
    const auto client = connect(line.access);
    return {client ? containers_of(**client, line.target) : Words{}};
  }
  return {};
}

Answer complete(const cli::Program& program, const Words& words) {
  const Line line = read_line(program, words);
  const auto command = command_of(program, line);
  if (command && line.previous.starts_with("-") && command->takes_value(line.previous)) {
    return values_of(line);
  }
  if (command && line.last.starts_with("-")) {
    return {command->long_flags()};
  }
  Answer out;
  if (line.fresh) {
    for (const cli::Command& one : program.commands()) {
      out.candidates.push_back(one.name());
    }
  }
  if (line.target.empty()) {
    const auto client = connect(line.access);
    if (client) {
      const Words pods = pod_names(**client);
      out.candidates.insert(out.candidates.end(), pods.begin(), pods.end());
    }
  }
  return out;
}

} // namespace

int print_candidates(cli::Program& program, const std::vector<std::string>& words) {
  ::alarm(kMaxSeconds);
  const Answer answer = complete(program, words);
  const std::string start = words.empty() ? std::string() : words.back();
  for (const std::string& one : answer.candidates) {
    if (one.starts_with(start)) {
      std::printf("%s\n", base::printable(one, 256).c_str());
    }
  }
  std::printf("%s\n", answer.directive);
  return 0;
}

} // namespace jprof::plugin
