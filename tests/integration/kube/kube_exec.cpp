// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Runs one command in a container by lib/kube alone, as `kubectl exec -i` does: stdin in, stdout
// and stderr out, its exit code is ours; 125 for a failure of our own, printed with its reason.
// Tests on a real cluster compare it with kubectl.
//
//   kube_exec NAMESPACE POD CONTAINER COMMAND [ARG...]
#include "lib/base/file.h"
#include "lib/kube/kube_client.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using jprof::base::Result;
using jprof::kube::ExecEvent;

Result<int> run(const std::vector<std::string>& words) {
  JPROF_TRY_ASSIGN(jprof::kube::ClusterAccess access,
                   jprof::kube::resolve_access({}, jprof::kube::AccessEnvironment::of_process()));
  JPROF_TRY_ASSIGN(const auto client, jprof::kube::make_kube_client(std::move(access)));
  JPROF_TRY(client->get_pod(words[0], words[1]));
  JPROF_TRY_ASSIGN(
      const auto stream,
      client->exec({words[0], words[1], words[2], {words.begin() + 3, words.end()}}, -1));
  if (::isatty(STDIN_FILENO) == 0) {
    JPROF_TRY_ASSIGN(const std::string input,
                     jprof::base::read_all(STDIN_FILENO, std::size_t{64} << 20U, "stdin"));
    JPROF_TRY(stream->write(input));
  }
  for (;;) {
    JPROF_TRY_ASSIGN(const auto event, stream->next(std::chrono::seconds(1)));
    if (!event) {
      continue;
    }
    if (event->kind == ExecEvent::Kind::kExit) {
      return event->exit_code;
    }
    const int fd = event->kind == ExecEvent::Kind::kStdout ? STDOUT_FILENO : STDERR_FILENO;
    JPROF_TRY(jprof::base::write_all(fd, event->data, "output"));
  }
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 4) {
    std::fputs("usage: kube_exec NAMESPACE POD CONTAINER COMMAND [ARG...]\n", stderr);
    return 2;
  }
  const Result<int> result = run(words);
  if (!result) {
    std::fprintf(stderr, "%s: %s\n",
                 std::string(jprof::base::reason_word(result.error().code)).c_str(),
                 result.error().text().c_str());
    return 125;
  }
  return *result;
}
