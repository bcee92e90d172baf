// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/session.h"

#include "sidecar/relay/relay.h"
#include "sidecar/serve/places.h"

#include <cstdio>
#include <unistd.h>

namespace jprof::sidecar {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 3s; // a container that has just started

base::Result<int> run() {
  const auto config = serve::read_config("");
  auto socket = config ? relay::connect_to_serve(serve::socket_candidates(*config), kPatience)
                       : base::Result<int>(base::fail(config.error()));
  if (!socket) {
    // The caller reads frames; a person who tries it by hand reads the line on standard error.
    relay::tell_failure(STDOUT_FILENO, socket.error());
    return base::fail(std::move(socket).error());
  }
  relay::relay(STDIN_FILENO, STDOUT_FILENO, *socket);
  std::fflush(nullptr);
  ::_exit(0); // the thread that reads standard input cannot be waited for
}

} // namespace

void add_session(cli::Program& program) {
  program.add({"session", "Relay between standard input and output and 'jprof serve'",
               "  kubectl exec -i POD -c jprof -- /jprof session     # what kubectl-jprof does\n"},
              [] { return run(); });
}

} // namespace jprof::sidecar
