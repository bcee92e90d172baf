// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

#include <array>
#include <string>

// Unix sockets that no program inherits. `type` is SOCK_STREAM or SOCK_SEQPACKET, with
// SOCK_NONBLOCK where nobody may wait. kPermission where a seccomp profile refuses them, kLimit
// without descriptors. Any thread.
namespace jprof::base {

Result<UniqueFd> make_local_socket(int type);
// Two that are connected to each other.
Result<std::array<UniqueFd, 2>> make_socket_pair(int type);

// What it means that `call` ("socket", "socketpair") failed while we tried to do `what` ("make a
// Unix socket"): names the profile, and its cure.
Error socket_error(int os_errno, const std::string& what, const char* call);

} // namespace jprof::base
