// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/control/failure.h"

namespace jprof::agent {
namespace {

char* append(char* to, const char* end, const char* text) {
  while (to < end && *text != 0) {
    *to++ = *text++;
  }
  return to;
}

} // namespace

Failure::Failure(wire::AgentStatus why, long result, const char* text, const char* more)
    : status(why), os_errno(static_cast<std::int32_t>(result < 0 ? -result : result)) {
  char* at = append(detail, detail + sizeof detail - 1, text);
  append(at, detail + sizeof detail - 1, more);
}

} // namespace jprof::agent
