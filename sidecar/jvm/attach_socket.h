// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/jvm/target.h"

namespace jprof::jvm {

// Connects to the JVM's attach listener, which it starts if need be: trigger file, SIGQUIT, wait
// for the socket. The connection carries one command. Where ids must differ from ours, all of it is
// done in a child process. SIGQUIT is sent once, and only to a process that has libjvm mapped and
// catches it: to any other it would be death.
//
// kAttachDisabled, kAttachFailed (with what stands in the way: no writable /tmp, -Xrs, stopped,
// exiting, a planted socket), kTimeout, kTargetGone, kIdentityMismatch.
base::Result<base::UniqueFd> open_attach_socket(const Target& target, base::Deadline deadline);

} // namespace jprof::jvm
