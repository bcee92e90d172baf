// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/moment.h"

#include "lib/base/file.h"

#include <algorithm>
#include <ctime>

namespace jprof::spool {

std::int64_t Uptime::since(const Uptime& earlier) const {
  return boot == earlier.boot ? std::max<std::int64_t>(0, seconds - earlier.seconds) : 0;
}

Moment Moment::now() {
  Moment moment{std::chrono::system_clock::now(), {}};
  if (const auto boot = base::read_file("/proc/sys/kernel/random/boot_id", 64)) {
    moment.uptime.boot = boot->substr(0, boot->find('\n'));
  }
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  moment.uptime.seconds = time.tv_sec;
  return moment;
}

} // namespace jprof::spool
