// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/base/mebibytes.h"
#include "lib/cli/foreign_text.h"
#include "lib/protocol/file_check.h"
#include "plugin/capture/pending_file.h"
#include "plugin/cluster/cluster_options.h"
#include "plugin/cluster/targets.h"
#include "plugin/commands/commands.h"
#include "plugin/conversation/ask.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

struct AttachOptions {
  kube::AccessOptions access;
  std::string target;
  std::string command;
  std::vector<std::string> arguments; // the command's
  std::string timeout = "30s";
  std::uint32_t pid = 0;
  std::string container;
};

// The answer's only file, as it comes.
class AnswerHandler final : public ConversationHandler {
 public:
  using Sink = std::function<base::Status(std::string_view)>;
  explicit AnswerHandler(Sink sink) : sink_(std::move(sink)) {}

  void on_progress(const protocol::Progress&) override {}
  base::Status on_result(const protocol::ResultMessage& result) override {
    if (result.files.size() != 1) {
      return base::make_failure(ErrorCode::kProtocol, "the sidecar's answer is not one file");
    }
    announced_ = result.files[0].bytes;
    check_.emplace(result.files);
    return {};
  }
  base::Status on_chunk(const protocol::Chunk& chunk) override {
    JPROF_TRY(check_->accept(chunk)); // a chunk comes after its result: Conversation sees to that
    arrived_ += chunk.data.size();
    return sink_(chunk.data);
  }
  base::Status on_end() override { return check_->finish(); }

  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t announced() const { return announced_; }

 private:
  Sink sink_;
  std::optional<protocol::FileCheck> check_;
  std::uint64_t arrived_ = 0;
  std::uint64_t announced_ = 0;
};

Result<protocol::Request> make_request(const kube::KubeClient& client,
                                       const AttachOptions& options) {
  protocol::Request request;
  request.kind = protocol::RequestKind::kAttach;
  request.attach.requester = requester(client.access());
  request.attach.pid = options.pid;
  request.attach.command = options.command;
  request.attach.arguments = options.arguments;
  JPROF_TRY_ASSIGN(request.attach.timeout, base::parse_duration(options.timeout));
  return request;
}

// With --json an answer is one text, held until it is complete: a hostile pod could fill the
// memory.
constexpr std::uint64_t kMaxHeld = 64ULL << 20U;

Result<int> take_text(Conversation& conversation, const protocol::Request& request, bool json) {
  std::string held;
  AnswerHandler handler([&](std::string_view text) -> base::Status {
    if (json && held.size() + text.size() > kMaxHeld) {
      return base::make_failure(ErrorCode::kLimit,
                                "the answer is larger than " + base::mebibytes(kMaxHeld),
                                "without --json it is passed on as it comes");
    }
    if (json) {
      held += text;
    } else {
      cli::print_foreign(text);
    }
    return {};
  });
  JPROF_TRY_ASSIGN(const protocol::ResultMessage result, conversation.run(request, handler));
  if (json) {
    std::printf("%s\n", base::dump_json({{"ok", true}, {"text", held}}).c_str());
  } else {
    std::fflush(stdout);
  }
  if (!result.message.empty()) {
    std::fprintf(stderr, "kubectl-jprof: %s\n", base::printable(result.message, 1024).c_str());
  }
  return 0;
}

// What has arrived of a dump is the only copy: it is kept and named.
base::Error partial(PendingFile file, const AnswerHandler& handler, base::Error error) {
  if (handler.arrived() == 0) {
    return error;
  }
  const std::string path = file.path() + ".partial";
  const auto kept = std::move(file).commit_as(path, base::Replace::kRefuse);
  if (!kept) {
    return error;
  }
  return base::make_error(ErrorCode::kPartialCapture,
                          "the heap dump was cut off after " + std::to_string(handler.arrived()) +
                              " of " + std::to_string(handler.announced()) +
                              " bytes: " + error.message,
                          "what arrived is " + base::printable(*kept) + "; take another dump");
}

Result<int> take_dump(Conversation& conversation, protocol::Request request, bool json) {
  std::vector<std::string>& arguments = request.attach.arguments;
  if (arguments.empty() || arguments[0].empty() || arguments[0].ends_with('/')) {
    return base::make_failure(ErrorCode::kUsage,
                              "dumpheap needs the name of a file on your machine",
                              "dumpheap FILE [-live|-all] [GZIP LEVEL]");
  }
  const std::string path = arguments[0];
  arguments.erase(arguments.begin());
  if (::access(path.c_str(), F_OK) == 0) {
    return base::make_failure(ErrorCode::kUsage, base::printable(path) + " already exists",
                              "choose another name for the dump");
  }
  JPROF_TRY_ASSIGN(PendingFile file, PendingFile::create(path));
  ::fchmod(file.fd(), 0600); // it holds what the application holds
  AnswerHandler handler([&file](std::string_view bytes) { return file.append(bytes); });
  if (auto result = conversation.run(request, handler); !result) {
    return base::fail(partial(std::move(file), handler, std::move(result).error()));
  }
  JPROF_TRY_ASSIGN(const std::string name, file.commit(base::Replace::kRefuse));
  if (json) {
    const base::Json object = {{"ok", true}, {"file", name}, {"bytes", handler.arrived()}};
    std::printf("%s\n", base::dump_json(object).c_str());
  } else {
    std::printf("Heap dump: %s, %llu bytes\n", base::printable(name, 4096).c_str(),
                static_cast<unsigned long long>(handler.arrived()));
  }
  return 0;
}

Result<int> attach(const AttachOptions& options, bool json) {
  JPROF_TRY_ASSIGN(const std::unique_ptr<kube::KubeClient> client, connect(options.access));
  JPROF_TRY_ASSIGN(protocol::Request request, make_request(*client, options));
  JPROF_TRY_ASSIGN(
      const Targets found,
      find_targets(*client, {.target = options.target, .selector = {}, .max_pods = 1, .seed = {}}));
  const kube::Pod& pod = found.pods.front();
  if (!options.container.empty()) {
    JPROF_TRY_ASSIGN(const kube::Container* target, kube::find_target(pod, options.container));
    request.attach.container_id = kube::runtime_id(*target);
  }
  JPROF_TRY_ASSIGN(const kube::Container* sidecar, kube::find_sidecar(pod));
  JPROF_TRY_ASSIGN(const std::unique_ptr<Interrupt> interrupt, Interrupt::create());
  interrupt->install();
  JPROF_TRY_ASSIGN(const std::unique_ptr<Conversation> conversation,
                   open_conversation(*client, pod, sidecar->name, *interrupt));
  return request.attach.command == "dumpheap" ? take_dump(*conversation, std::move(request), json)
                                              : take_text(*conversation, request, json);
}

// Also after the command: those options that no JVM command has. -s is one of VM.class_hierarchy.
std::vector<std::string> own_options() {
  return {"-n",         "--namespace",
          "-c",         "--container",
          "--context",  "--kubeconfig",
          "--cluster",  "--user",
          "--server",   "--token",
          "--as",       "--as-uid",
          "--as-group", "--tls-server-name",
          "--pid",      "--certificate-authority",
          "--timeout",  "--insecure-skip-tls-verify",
          "--json"};
}

} // namespace

void add_attach(cli::Program& program) {
  auto options = std::make_shared<AttachOptions>();
  cli::Command command =
      program.add({.name = "attach",
                   .summary = "Send a command to a pod's JVM, as jcmd, jstack and jmap do",
                   .examples = "  kubectl jprof attach checkout-7d9f threaddump -n shop\n"
                               "  kubectl jprof attach checkout-7d9f jcmd VM.flags\n"
                               "  kubectl jprof attach checkout-7d9f inspectheap -live\n"
                               "  kubectl jprof attach --timeout 5m checkout-7d9f dumpheap "
                               "app.hprof -live\n"
                               "\nThe sidecar's configuration names what is allowed (allow:). "
                               "jprof's options may also follow\nthe command; what follows -- "
                               "belongs to the command alone.",
                   .own_arguments = 2,
                   .own_options = own_options()},
                  [options, &program] {
                    options->arguments = program.rest();
                    return attach(*options, program.json());
                  });
  command.option("target", options->target, "POD, pod/NAME, deploy/NAME, ...").required();
  command
      .option("command", options->command,
              "load, properties, agentProperties, threaddump, datadump, dumpheap, inspectheap, "
              "setflag, printflag or jcmd; what follows are its arguments")
      .required();
  command.option("--pid", options->pid, "The JVM, as the sidecar sees it; default: the only one")
      .positive();
  command.option("-c,--container", options->container,
                 "Container of the JVM; default: the only JVM in the pod");
  command.option("--timeout", options->timeout,
                 "Time limit for the JVM's answer, with a unit (30s)");
  add_cluster_options(command, options->access);
}

} // namespace jprof::plugin
