// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/status.h"

#include <functional>
#include <string>
#include <sys/types.h>

namespace jprof::container {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  bool operator==(const Identity&) const = default;
};
Identity effective_identity();

// Whether a step can run with these ids: they are ours, or we may take them.
bool can_act_as(Identity identity);
// Our own effective capability (CAP_KILL ...).
bool has_capability(int capability);

// What a step under another identity returns.
struct Handed {
  base::UniqueFd fd; // may be invalid
  std::string text;  // at most 64 KiB
};
using Step = std::function<base::Result<Handed>()>;

// Runs `step` in a short-lived child process, which is killed a second after the deadline
// (kTimeout): a target's file system may never answer (a dead server, a frozen disk), and then only
// a separate process can be abandoned. One that the kernel does not let go even so is left behind,
// named in the error, and waited for when the next step runs. Whatever `step` changes in memory is
// lost with the child. Any thread.
base::Result<Handed> within(base::Deadline deadline, const Step& step);
base::Result<base::UniqueFd> open_within(base::Deadline deadline,
                                         const std::function<base::Result<base::UniqueFd>()>& open);
base::Status act_within(base::Deadline deadline, const std::function<base::Status()>& act);

// The same with the effective and file-system ids `identity`, unless we may not change ids
// (CAP_SETUID and CAP_SETGID): then with the rights that we have. Ids are never changed in this
// process: they are per thread in the kernel and per process in POSIX, and the rest of jprof must
// keep its own.
base::Result<Handed> as_identity(Identity identity, base::Deadline deadline, const Step& step);
// The same for a step that opens one thing, and for one that only does something.
base::Result<base::UniqueFd> open_as(Identity identity, base::Deadline deadline,
                                     const std::function<base::Result<base::UniqueFd>()>& open);
base::Status act_as(Identity identity, base::Deadline deadline,
                    const std::function<base::Status()>& act);

} // namespace jprof::container
