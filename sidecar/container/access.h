// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/error.h"
#include "sidecar/container/as_target.h"
#include "sidecar/container/process.h"
#include "sidecar/container/target_root.h"

#include <string>

namespace jprof::container {

// Why the kernel would refuse us /proc/PID/root of a process (ptrace(2), PTRACE_MODE_READ_FSCREDS),
// predicted from what anybody can read. kOther: none of the visible reasons (a security module,
// another user namespace).
enum class Barrier { kNone, kUid, kGid, kCapabilities, kNotDumpable, kOther };

struct Access {
  Barrier barrier = Barrier::kNone;
  bool as_target = false; // open to us only if a child process takes the target's ids
  std::string cause;      // one sentence each, empty for kNone
  std::string cure;
};

Access predict_access(const ProcessStatus& ours, const ProcessStatus& target, uid_t target_owner);
// Of this process.
base::Result<ProcessStatus> own_status();
// The error of an open that the kernel refused, with the predicted cause: kIdentityMismatch.
base::Error access_error(const Process& target);

// Opens what the kernel guards by a ptrace check, with our own rights or, if those are not enough
// and we may change ids, with the target's. The error is access_error's.
base::Result<base::UniqueFd> open_guarded_file(const Process& target, const std::string& name,
                                               base::Deadline deadline);
base::Result<TargetRoot> open_root(const Process& target, base::Deadline deadline);

} // namespace jprof::container
