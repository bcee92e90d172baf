// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/attach.h"

#include "lib/base/duration.h"
#include "lib/base/json.h"
#include "lib/cli/foreign_text.h"
#include "sidecar/commands/local_dump.h"
#include "sidecar/commands/stop_on_signal.h"
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/diagnostic.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/sandbox/sandbox.h"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::sidecar {
namespace {

struct Options {
  pid_t pid = 0;
  std::string command;
  std::vector<std::string> arguments; // the command's
  std::string timeout = "30s";
  bool in_target = false;
};

base::Result<int> dump_heap(const jvm::Target& target, const std::vector<std::string>& arguments,
                            base::Deadline deadline, bool json) {
  const StopOnSignal stop("the heap dump is being given up");
  const std::string& path = arguments[0];
  JPROF_TRY(check_dump_path(path));
  jvm::HeapDumpOptions options;
  options.arguments.assign(arguments.begin() + 1, arguments.end());
  options.stopped = [token = stop.token()] { return token.stop_requested(); };
  JPROF_TRY_ASSIGN(const jvm::HeapDump dump, jvm::take_heap_dump(target, options, deadline));
  JPROF_TRY(keep_dump(dump, path, options.stopped));
  if (json) {
    const base::Json object = {{"ok", true}, {"file", path}, {"bytes", dump.bytes}};
    std::printf("%s\n", base::dump_json(object).c_str());
  } else {
    std::printf("Heap dump: %s, %llu bytes\n", path.c_str(),
                static_cast<unsigned long long>(dump.bytes));
  }
  return 0;
}

base::Result<int> run(const Options& options, bool json) {
  JPROF_TRY_ASSIGN(const std::chrono::nanoseconds timeout, base::parse_duration(options.timeout));
  JPROF_TRY_ASSIGN(const jvm::Diagnostic diagnostic,
                   jvm::make_diagnostic(options.command, options.arguments));
  sandbox::fence_in(sandbox::Network::kListen);
  JPROF_TRY_ASSIGN(const jvm::Target target, jvm::find_one_jvm(options.pid));
  const auto deadline = base::Deadline::after(timeout);
  if (options.command == "dumpheap" && !options.in_target) {
    return dump_heap(target, options.arguments, deadline, json);
  }
  jvm::AttachLimits limits;
  limits.on_connected = [] { sandbox::enter({}); }; // whatever it lacks changes nothing here
  if (!json && !diagnostic.judged_by_text) {
    limits.answer_bytes = std::size_t{1} << 34U;  // passed on, not held
    limits.on_text = [](std::string_view piece) { // out at once: a JVM may take long for the rest
      cli::print_foreign(piece);
      std::fflush(stdout);
    };
  }
  JPROF_TRY_ASSIGN(const jvm::AttachReply reply,
                   jvm::run_command(target, diagnostic.command, deadline, limits));
  JPROF_TRY(jvm::judge(diagnostic, reply));
  if (json) {
    const base::Json object = {{"ok", true}, {"code", reply.code}, {"text", reply.text}};
    std::printf("%s\n", base::dump_json(object).c_str());
  } else if (!limits.on_text) {
    cli::print_foreign(reply.text);
  }
  if (!diagnostic.note.empty()) {
    std::fprintf(stderr, "jprof: %s\n", diagnostic.note.c_str());
  }
  std::fflush(stdout);
  return 0;
}

} // namespace

void add_attach(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  cli::Command command =
      program.add({"attach", "Send a command to a JVM, as jattach, jcmd, jstack and jmap do",
                   "  jprof attach 7 threaddump\n"
                   "  jprof attach 7 jcmd VM.native_memory summary\n"
                   "  jprof attach 7 inspectheap -live\n"
                   "  jprof attach --timeout 5m 7 dumpheap app.hprof -live\n"
                   "  jprof attach 7 setflag HeapDumpPath /tmp\n"
                   "  jprof attach 7 load instrument false agent.jar=options\n",
                   2},
                  [options, &program] {
                    options->arguments = program.rest();
                    return run(*options, program.json());
                  });
  command.option("PID", options->pid, "The JVM, as jprof sees it").required().positive();
  command
      .option("COMMAND", options->command,
              "load, properties, agentProperties, threaddump, datadump, dumpheap, inspectheap, "
              "setflag, printflag or jcmd; what follows are its arguments")
      .required();
  command.option("--timeout", options->timeout,
                 "Time limit for the whole command, with a unit (30s)");
  command.flag("--in-target", options->in_target,
               "dumpheap: leave the file in the JVM's container, at the path given");
}

} // namespace jprof::sidecar
