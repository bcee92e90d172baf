// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/target.h"

namespace jprof::jvm {

// A connection from an OpenJ9 JVM, which has said the right key. No signal is sent: OpenJ9 waits on
// a System V semaphore next to the directory /tmp/.com_ibm_tools_attach, where we leave a port and
// a key; all JVMs that wait there are woken, look, and go on waiting. The IPC and network
// namespaces must be ours, as they are in a pod. With the effective ids that the files require.
//
// kAttachDisabled, kAttachFailed, kTimeout, kBusy (somebody else attaches all the time).
base::Result<base::UniqueFd> call_openj9(const container::TargetRoot& root, const Target& target,
                                         base::Deadline deadline);

// The same with everything around it: checks, and the target's ids in a child process if needed.
base::Result<base::UniqueFd> open_openj9(const Target& target, base::Deadline deadline);

} // namespace jprof::jvm
