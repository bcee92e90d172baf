// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace jprof::cli {

void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free number is this one. Opened the wrong way round, so that each use fails.
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

base::Status finish_standard_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = flushed ? 0 : errno;
  if (flushed && std::ferror(stdout) == 0) {
    return {};
  }
  std::clearerr(stdout); // told once
  constexpr const char* kWhat = "cannot write standard output";
  constexpr const char* kCure =
      "the output is incomplete: send it to a place that accepts all of it";
  return base::fail(error == 0 ? base::make_error(base::ErrorCode::kIo, kWhat, kCure)
                               : base::errno_error(error, kWhat).with_cure(kCure));
}

} // namespace jprof::cli
