// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "lib/protocol/request.h"
#include "sidecar/serve/serve_context.h"

#include <cstddef>

namespace jprof::serve {

// Between a connection and its capture: one frame per packet, far below the socket's buffer.
inline constexpr std::size_t kMaxPacketBytes = 32 * 1024;

// What the forked process of a capture does, from the locks to the seal; reports it to `channel`
// and obeys kCancel frames from there and SIGTERM. Returns the process's exit code. Starts a
// thread.
int run_capture_work(ServeContext& context, const protocol::RecordRequest& request,
                     base::UniqueFd channel);

} // namespace jprof::serve
