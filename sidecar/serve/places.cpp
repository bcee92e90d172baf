// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/places.h"

#include "lib/base/file.h"
#include "lib/log/log.h"
#include "sidecar/serve/socket.h"

#include <cstdlib>
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
