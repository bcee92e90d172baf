// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"
#include "plugin/commands/commands.h"

#include <csignal>
#include <cstring>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  jprof::cli::Program program("kubectl-jprof", "Profiles Java services in a Kubernetes cluster.");
  jprof::plugin::add_commands(program);
  // What kubectl_complete-jprof calls; its words are not options of ours.
  if (argc > 1 && std::strcmp(argv[1], "__complete") == 0) {
    return jprof::plugin::print_candidates(program, {argv + 2, argv + argc});
  }
  return program.run(argc, argv);
}
