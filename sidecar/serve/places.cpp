// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/places.h"

#include "lib/base/file.h"
#include "lib/base/mebibytes.h"
#include "lib/base/unique_fd.h"
#include "lib/config/byte_size.h"
#include "lib/log/log.h"
#include "sidecar/serve/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace jprof::serve {

base::Result<config::SidecarConfig> read_config(const std::string& path) {
  return config::load_sidecar_config(path.empty() ? config::kSidecarConfigPath : path,
                                     !path.empty(),
                                     [](const char* name) { return ::getenv(name); });
}

base::Status claim_directory(const std::string& path) {
  constexpr mode_t kOthersWrite = 022;
  const std::string cure = "remove it, or mount a volume at /var/lib/jprof";
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::errno_failure(errno, "cannot create directory " + path);
  }
  const base::UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd && (errno == ELOOP || errno == ENOTDIR)) {
    return base::make_failure(base::ErrorCode::kPermission, path + " is a link, or not a directory",
                              cure);
  }
  if (::lstat(path.c_str(), &info) == 0 && info.st_uid != ::geteuid()) {
    return base::make_failure(base::ErrorCode::kPermission,
                              path + " belongs to uid " + std::to_string(info.st_uid) +
                                  ", who could read and replace what is kept there",
                              cure);
  }
  if (!fd || ::fstat(fd.get(), &info) != 0 ||
      ((info.st_mode & kOthersWrite) != 0 && ::fchmod(fd.get(), 0700) != 0)) {
    return base::errno_failure(errno, "cannot use directory " + path);
  }
  return {};
}

base::Status choose_spool(config::SidecarConfig& config) {
  std::string& directory = config.spool.directory;
  if (directory == kDefaultSpool &&
      !(base::make_directories(directory, 0700) && ::access(directory.c_str(), W_OK) == 0)) {
    log::info("there is no volume at /var/lib/jprof: captures are kept in " +
              std::string(kFallbackSpool) + " and are lost when this container ends");
    directory = kFallbackSpool;
  }
  if (directory == kFallbackSpool) {
    JPROF_TRY(claim_directory(directory.substr(0, directory.rfind('/'))));
    return claim_directory(directory);
  }
  return {};
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
                 config::format_byte_size(config.spool.quota) + " configured");
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
