// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/oom_order.h"

#include "lib/base/file.h"

#include <charconv>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace jprof::container {
namespace {

constexpr std::size_t kMaxBytes = 64;

std::optional<int> number_in(const base::Result<std::string>& text) {
  int value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

} // namespace

bool be_first_to_die() {
  const base::UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  return file && base::write_all(file.get(), std::to_string(kFirstToDie), "oom_score_adj");
}

std::optional<int> own_oom_order() {
  return number_in(base::read_file("/proc/self/oom_score_adj", kMaxBytes));
}

std::optional<int> oom_order_of(const Process& process) {
  return number_in(process.read("oom_score_adj", kMaxBytes));
}

} // namespace jprof::container
