// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/config/sidecar_config.h"

#include <cstdint>
#include <string>
#include <vector>

// Where spool and socket are unless configured. A sidecar has a volume at /var/lib/jprof; an
// ephemeral container has none, and keeps both below its own /tmp.
namespace jprof::serve {

inline constexpr char kDefaultSpool[] = "/var/lib/jprof/spool";
inline constexpr char kFallbackSpool[] = "/tmp/jprof/spool";

// The configuration, combined with the process's environment; `path` empty: the usual file, which
// may be absent.
base::Result<config::SidecarConfig> read_config(const std::string& path);

// Sets the fallback if no place is configured for the spool and it cannot be created at its default
// place. The fallback is below a /tmp where others may have been first: kPermission if they were.
base::Status choose_spool(config::SidecarConfig& config);

// Creates a directory that nobody else can put anything into or replace the contents of.
// kPermission if another user's, or a link, is in its place.
base::Status claim_directory(const std::string& path);

// If the spool is in memory (an emptyDir with `medium: Memory`, or a node that keeps its pods'
// volumes there), its contents are charged to this container, whose limit is `memory_limit` bytes
// (0: none): lowers what it may hold to a quarter of that, and says so. Returns what may be held in
// memory, 0 if it is on a disk.
std::uint64_t bound_spool_in_memory(config::SidecarConfig& config, std::uint64_t memory_limit);

// Where a session looks for serve, in this order.
std::vector<std::string> socket_candidates(const config::SidecarConfig& config);

} // namespace jprof::serve
