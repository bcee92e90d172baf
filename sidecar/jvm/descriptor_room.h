// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/jvm/target.h"

#include <cstdint>
#include <string_view>

namespace jprof::jvm {

// The soft limit on open files in /proc/PID/limits; ~0 if there is none, 0 if the text does not
// say.
std::uint64_t open_files_limit(std::string_view limits);

// kAttachFailed if the JVM has too few file descriptors left for an attach: one that cannot accept
// a connection ends its attach listener for good (HotSpot, attach_listener_thread_entry), and
// neither we nor jcmd could ever attach to it again. Passes if /proc does not tell.
base::Status check_descriptor_room(const Target& target, const container::ProcessStatus& now);

} // namespace jprof::jvm
