// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/program.h"

#include "lib/cli/program.h"
#include "sidecar/commands/commands.h"
#include "sidecar/container/oom_order.h"

#include <csignal>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace jprof::sidecar {

int run_program(int argc, char** argv) {
  // Where memory runs out, what jprof holds is to go and not what the JVM holds. First of all: a
  // process that has closed itself cannot ask for it any more.
  container::be_first_to_die();
  // A JVM of our uid must not be able to open our /proc files. The image's mode 0711 makes us
  // non-dumpable before the first instruction; this covers every other way to be started.
  prctl(PR_SET_DUMPABLE, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // a write above ulimit -f is refused (EFBIG) instead
#ifdef __GLIBC__
  // Large blocks go back to the kernel at once: the memory is the pod's.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif

  cli::Program program("jprof", "Profiles JVMs that share this process's PID namespace.");
  add_commands(program, argc > 1 ? argv[1] : "");
  return program.run(argc, argv);
}

} // namespace jprof::sidecar
