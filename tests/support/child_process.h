// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace jprof::testing {

// A program that a test starts and reads line by line; killed and reaped by the destructor. Its
// standard error is the test's. One thread.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The next line of its standard output; none where it ended or the time is over.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  bool write(std::string_view bytes);

 private:
  pid_t pid_ = -1;
  base::UniqueFd input_;
  base::UniqueFd output_;
  std::string pending_;
};

} // namespace jprof::testing
