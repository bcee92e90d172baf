// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/stop_on_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace jprof::sidecar {
namespace {

std::string line_from(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) {
    line += c;
  }
  return line;
}

// Never comes to its end, whatever it is asked.
[[noreturn]] void finish_for_ever(int standard_error, const char* costs) {
  ::dup2(standard_error, STDERR_FILENO);
  const StopOnSignal signals("the recording is being finished", costs);
  [[maybe_unused]] ssize_t wrote = ::write(STDERR_FILENO, "ready\n", 6);
  while (!signals.token().stop_requested()) {
    ::usleep(1000);
  }
  wrote = ::write(STDERR_FILENO, "stopping\n", 9);
  for (;;) {
    ::pause();
  }
}

TEST(StopOnSignal, AnswersTheSecondSignalAndEndsAtTheThird) {
  for (const char* costs : {"", "leaves what there is in ./x"}) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      finish_for_ever(ends[1], costs);
    }
    ::close(ends[1]);
    EXPECT_EQ(line_from(ends[0]), "ready");
    ::kill(child, SIGINT);
    EXPECT_EQ(line_from(ends[0]), "stopping");

    ::kill(child, SIGTERM); // any of them
    EXPECT_EQ(line_from(ends[0]),
              std::string("jprof: the recording is being finished; once more ends jprof at once") +
                  (*costs == '\0' ? "" : " and ") + costs);
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);

    ::kill(child, SIGINT);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);
    ::close(ends[0]);
  }
}

} // namespace
} // namespace jprof::sidecar
