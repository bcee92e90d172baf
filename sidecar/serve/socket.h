// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/config/sidecar_config.h"

#include <string>

// serve's Unix socket: a path in the container's own file system, so that another container's
// processes cannot reach it (their way would lead through /proc/PID/root of a process that is not
// dumpable), and the peer's credentials besides. No abstract socket: those belong to the network
// namespace, which the whole pod shares.
namespace jprof::serve {

// `socket` of the configuration, or serve.sock in the spool: one for each spool.
std::string socket_path(const config::SidecarConfig& config);

// Replaces a stale socket file. REQUIRES: no other serve listens there (listener.h).
base::Result<base::UniqueFd> listen_at(const std::string& path);
base::Result<base::UniqueFd> connect_to(const std::string& path);

// kPermission unless the other side runs as our uid or as root.
base::Status check_peer(int fd);

} // namespace jprof::serve
