// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace jprof::plugin {

// Both directions of one `/jprof session`, wherever it runs. One thread at a time.
class ByteChannel {
 public:
  struct Event {
    enum class Kind { kNothing, kBytes, kEnded };
    Kind kind = Kind::kNothing;
    std::string bytes; // what the session wrote
    int exit_code = 0; // of kEnded
  };

  virtual ~ByteChannel() = default;

  virtual base::Status write(std::string_view bytes) = 0;
  // The next event, or kNothing when `timeout` has passed or `wake_fd` is readable. An Error is a
  // lost connection: the session may still run.
  virtual base::Result<Event> read(std::chrono::milliseconds timeout, int wake_fd) = 0;
  // The last part of what the session printed to stderr; foreign text.
  virtual const std::string& error_output() const = 0;
};

} // namespace jprof::plugin
