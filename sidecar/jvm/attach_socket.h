// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/target.h"

namespace jprof::jvm {

// Connects to the JVM's attach listener, which it starts if necessary: trigger file, SIGQUIT, wait
// for the socket. The connection carries one command. If ids must differ from ours, all of it is
// done in a child process. SIGQUIT is sent once, and only to a process that has libjvm mapped and
// catches it: it would kill any other.
//
// kAttachDisabled, kAttachFailed (with the obstacle: no writable /tmp, -Xrs, stopped, exiting, a
// planted socket), kTimeout, kTargetGone, kIdentityMismatch.
base::Result<base::UniqueFd> open_attach_socket(const Target& target, base::Deadline deadline);

// What open_attach_socket would refuse at once, found out without touching the JVM: stopped, ended,
// attaching disabled, deaf to SIGQUIT. `root` is the target's.
base::Status check_attachable(const container::TargetRoot& root, const Target& target);
// Its attach socket is in its /tmp: it needs no signal.
bool has_attach_socket(const container::TargetRoot& root, const Target& target);

} // namespace jprof::jvm
