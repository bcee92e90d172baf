// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_disk.h"

#include "lib/base/check.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jprof::testing {
namespace {

constexpr int kNotAllowed = 77;

bool mount_over(const std::string& directory, std::uint64_t bytes) {
  const std::string options = "size=" + std::to_string(bytes);
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

} // namespace

std::optional<int> run_on_small_disk(const std::string& directory, std::uint64_t bytes,
                                     const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(mount_over(directory, bytes) ? work() : kNotAllowed);
  }
  JPROF_CHECK(child > 0);
  int status = 0;
  JPROF_CHECK(::waitpid(child, &status, 0) == child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == kNotAllowed ? std::nullopt : std::optional(code);
}

} // namespace jprof::testing
