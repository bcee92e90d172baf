// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/attach.h"

#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/diagnostic.h"
#include "sidecar/jvm/discovery.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace jprof::sidecar {
namespace {

struct Options {
  pid_t pid = 0;
  std::vector<std::string> words; // command and its arguments
  std::string timeout = "30s";
};

// A person's terminal obeys escape sequences; a file or a pipe gets the bytes as they are.
void print_text(std::string_view text, bool terminal) {
  if (!terminal) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    const std::string safe =
        base::printable(text.substr(0, end), std::numeric_limits<std::size_t>::max() / 2);
    std::fwrite(safe.data(), 1, safe.size(), stdout);
    if (end < text.size()) {
      std::fputc(text[end], stdout);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

base::Result<int> run(const Options& options, bool json) {
  JPROF_TRY_ASSIGN(const std::chrono::nanoseconds timeout, base::parse_duration(options.timeout));
  const std::vector<std::string> arguments(options.words.begin() + 1, options.words.end());
  JPROF_TRY_ASSIGN(const jvm::Diagnostic diagnostic,
                   jvm::make_diagnostic(options.words[0], arguments));
  JPROF_TRY_ASSIGN(const jvm::Target target, jvm::find_one_jvm(options.pid));
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  jvm::AttachLimits limits;
  if (!json && !diagnostic.judged_by_text) {
    limits.answer_bytes = std::size_t{1} << 34U; // it is passed on, not held
    limits.on_text = [terminal](std::string_view text) { print_text(text, terminal); };
  }
  const auto deadline = base::Deadline::after(timeout);
  JPROF_TRY_ASSIGN(const jvm::AttachReply reply,
                   jvm::run_command(target, diagnostic.command, deadline, limits));
  JPROF_TRY(jvm::judge(diagnostic, reply));
  if (json) {
    const base::Json object = {{"ok", true}, {"code", reply.code}, {"text", reply.text}};
    std::printf("%s\n", base::dump_json(object).c_str());
  } else if (!limits.on_text) {
    print_text(reply.text, terminal);
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
  CLI::App& command =
      program.add({"attach", "Send a command to a JVM, as jattach, jcmd, jstack and jmap do",
                   "  jprof attach 7 threaddump\n"
                   "  jprof attach 7 jcmd VM.native_memory summary\n"
                   "  jprof attach 7 inspectheap -live\n"
                   "  jprof attach 7 setflag HeapDumpPath /tmp\n"
                   "  jprof attach 7 load instrument false agent.jar=options\n"},
                  [options, &program] { return run(*options, program.json()); });
  command.add_option("PID", options->pid, "The JVM, as jprof sees it")
      ->required()
      ->check(CLI::PositiveNumber);
  command
      .add_option("COMMAND", options->words,
                  "load, properties, agentProperties, threaddump, datadump, dumpheap, inspectheap, "
                  "setflag, printflag or jcmd, with its arguments")
      ->required();
  command.add_option("--timeout", options->timeout, "For the whole, with its unit (30s)");
  command.prefix_command(); // what follows belongs to the JVM's command: -live is no option of ours
}

} // namespace jprof::sidecar
