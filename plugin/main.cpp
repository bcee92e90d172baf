// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/program.h"
#include "plugin/commands/commands.h"

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  jprof::cli::Program program("kubectl-jprof", "Profiles Java services in a Kubernetes cluster.");
  jprof::plugin::add_commands(program);
  return program.run(argc, argv);
}
