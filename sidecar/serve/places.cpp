// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/places.h"

#include "lib/base/file.h"
#include "lib/base/mebibytes.h"
#include "lib/config/byte_size.h"
#include "lib/log/log.h"
#include "sidecar/serve/socket.h"

#include <algorithm>
#include <cstdlib>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace jprof::serve {

base::Result<config::SidecarConfig> read_config(const std::string& path) {
  return config::load_sidecar_config(path.empty() ? config::kSidecarConfigPath : path,
                                     !path.empty(),
                                     [](const char* name) { return ::getenv(name); });
}

void choose_spool(config::SidecarConfig& config) {
  const std::string& directory = config.spool.directory;
  if (directory != kDefaultSpool ||
      (base::make_directories(directory, 0700) && ::access(directory.c_str(), W_OK) == 0)) {
    return;
  }
  log::info("there is no volume at /var/lib/jprof: captures are kept in " +
            std::string(kFallbackSpool) + " and end with this container");
  config.spool.directory = kFallbackSpool;
}

std::uint64_t bound_spool_in_memory(config::SidecarConfig& config, std::uint64_t memory_limit) {
  struct statfs disk {};
  if (memory_limit == 0 || ::statfs(config.spool.directory.c_str(), &disk) != 0 ||
      disk.f_type != TMPFS_MAGIC) {
    return 0;
  }
  const std::uint64_t most = memory_limit / 4;
  if (config.spool.quota > most) {
    log::warning("the spool " + config.spool.directory +
                 " lies in memory, which counts against the " + base::mebibytes(memory_limit) +
                 " of this container: it may hold " + base::mebibytes(most) + " of the " +
                 config::format_byte_size(config.spool.quota) + " asked for");
    config.spool.quota = most;
    // Two of them: one that waits must not keep the next from being recorded.
    config.limits.capture_bytes = std::min(config.limits.capture_bytes, most / 2);
  }
  return config.spool.quota;
}

std::vector<std::string> socket_candidates(const config::SidecarConfig& config) {
  std::vector<std::string> paths{socket_path(config)};
  if (config.socket.empty() && config.spool.directory == kDefaultSpool) {
    config::SidecarConfig fallback = config;
    fallback.spool.directory = kFallbackSpool;
    paths.push_back(socket_path(fallback));
  }
  return paths;
}

} // namespace jprof::serve
