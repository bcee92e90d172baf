// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/program.h"

#include "lib/cli/program.h"
#include "lib/cli/standard_output.h"
#include "plugin/commands/commands.h"

#include <csignal>
#include <cstring>

namespace jprof::plugin {

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // a write above ulimit -f is refused (EFBIG) instead
  cli::Program program("kubectl-jprof", "Profiles Java services in a Kubernetes cluster.");
  add_commands(program);
  // What kubectl_complete-jprof calls; its words are not options of jprof.
  if (argc > 1 && std::strcmp(argv[1], "__complete") == 0) {
    cli::occupy_standard_descriptors();
    return print_candidates(program, {argv + 2, argv + argc});
  }
  return program.run(argc, argv);
}

} // namespace jprof::plugin
