// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace jprof::jvm {

// A Unix socket of `type` (SOCK_STREAM, SOCK_SEQPACKET), non-blocking, not inherited. kPermission
// where a seccomp profile refuses it, kLimit without descriptors. Any thread.
base::Result<base::UniqueFd> make_local_socket(int type);

} // namespace jprof::jvm
