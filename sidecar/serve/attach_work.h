// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "lib/protocol/request.h"
#include "sidecar/serve/serve_context.h"

namespace jprof::serve {

// The body of an attach's process: sends one command to the JVM and then, over `channel`, one
// packet: kResult (a ResultMessage with one file, its descriptor attached) or kError. SIGTERM ends
// the wait for the JVM. REQUIRES: check_attach allowed it.
int run_attach_work(const ServeContext& context, const protocol::AttachRequest& request,
                    base::UniqueFd channel);

} // namespace jprof::serve
