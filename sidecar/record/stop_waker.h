// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"

#include <cstdint>
#include <stop_token>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace jprof::record {

// Wakes a poll(2) when a stop is requested from any thread.
class StopWaker {
 public:
  explicit StopWaker(std::stop_token token)
      : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        callback_(std::move(token), Wake{fd_.get()}) {}
  int fd() const { return fd_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const {
      const std::uint64_t one = 1;
      // If the counter is full, it wakes the poll already.
      [[maybe_unused]] const ssize_t wrote = ::write(fd, &one, sizeof(one));
    }
  };
  base::UniqueFd fd_;
  std::stop_callback<Wake> callback_;
};

} // namespace jprof::record
