// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"

#include <chrono>
#include <string_view>

namespace jprof::container {

// By how much CLOCK_MONOTONIC in a /proc/PID/timens_offsets is ahead of the host's; 0 where the
// text does not say (time_namespaces(7)).
std::chrono::nanoseconds monotonic_offset(std::string_view timens_offsets);

// By how much that clock of the process is ahead of ours, as the kernel says; 0 in one namespace,
// and before kernel 5.6. Of a process that has made a namespace for its children and stays in its
// own, the kernel gives the children's: the caller checks that it fits.
std::chrono::nanoseconds monotonic_ahead(const Process& process);

} // namespace jprof::container
