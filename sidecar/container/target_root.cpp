// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/target_root.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "sidecar/container/as_target.h"
#include "sidecar/container/path_walk.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace jprof::container {
namespace {

using base::ErrorCode;

// openat2 returns EAGAIN if something was renamed or mounted in the meantime: a few times is bad
// luck, more is an attack.
constexpr int kResolveAttempts = 16;

base::UniqueFd open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  for (int attempt = 0; attempt < kResolveAttempts; ++attempt) {
    fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) {
      break;
    }
  }
  return base::UniqueFd(static_cast<int>(fd));
}

std::string name_of(std::string_view path) {
  return "'" + base::printable(path) + "' in the target";
}

// Files of proc, tracefs and similar file systems claim to be regular, and yet some of them hold a
// reader for ever, take what they return from others (/proc/kmsg), or reveal something about
// ourselves.
bool is_of_kernel(int fd) {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) {
    return true;
  }
  switch (system.f_type) {
  case PROC_SUPER_MAGIC:
  case SYSFS_MAGIC:
  case TRACEFS_MAGIC:
  case DEBUGFS_MAGIC:
    return true;
  default:
    return false;
  }
}

} // namespace

std::string descriptor_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

base::Result<base::UniqueFd> reopen(int path_fd, int flags) {
  int fd;
  do {
    fd = ::open(descriptor_path(path_fd).c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return base::errno_failure(errno, "cannot open what was found in the target");
  }
  return base::UniqueFd(fd);
}

base::Result<TargetRoot> TargetRoot::open(const Process& process) {
  JPROF_TRY_ASSIGN(base::UniqueFd root, process.open_link("root"));
  return from(std::move(root));
}

TargetRoot TargetRoot::from(base::UniqueFd root, Resolver resolver) {
  return TargetRoot(std::move(root), resolver);
}

base::Result<base::UniqueFd> TargetRoot::resolve(std::string_view path, Links links) const {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return base::make_failure(ErrorCode::kInvalidData, "not a path: " + name_of(path));
  }
  const int flags = O_PATH | O_CLOEXEC | (links == Links::kRefuseLast ? O_NOFOLLOW : 0);
  if (resolver_ == Resolver::kAuto) {
    base::UniqueFd found = open_in_root(root_.get(), std::string(path), flags);
    if (found) {
      return found;
    }
    if (errno != ENOSYS && errno != EPERM) {
      return base::errno_failure(errno, "cannot open " + name_of(path));
    }
  }
  base::UniqueFd found = walk_in_root(root_.get(), path, flags);
  if (!found) {
    return base::errno_failure(errno, "cannot open " + name_of(path));
  }
  return found;
}

base::Result<base::UniqueFd> TargetRoot::open_directory(std::string_view path) const {
  JPROF_TRY_ASSIGN(base::UniqueFd found, resolve(path));
  struct stat entry {};
  if (::fstat(found.get(), &entry) != 0 || !S_ISDIR(entry.st_mode)) {
    return base::errno_failure(ENOTDIR, "cannot use " + name_of(path));
  }
  return found;
}

base::Result<base::UniqueFd> TargetRoot::open_regular(std::string_view path) const {
  constexpr std::chrono::seconds kPatience{5};
  if (silent_) {
    return base::make_failure(ErrorCode::kTimeout,
                              name_of(path) + ": a file of it was not opened in time before");
  }
  auto opened =
      open_within(base::Deadline::after(kPatience), [&]() -> base::Result<base::UniqueFd> {
        JPROF_TRY_ASSIGN(base::UniqueFd file, open_regular_here(path));
        char first = 0;
        (void)::pread(file.get(), &first, 1,
                      0); // a file that hangs only when it is read hangs in here
        return file;
      });
  silent_ = !opened && opened.error().code == ErrorCode::kTimeout;
  return opened;
}

base::Result<base::UniqueFd> TargetRoot::open_regular_here(std::string_view path) const {
  JPROF_TRY_ASSIGN(const base::UniqueFd found, resolve(path));
  struct stat entry {};
  if (::fstat(found.get(), &entry) != 0) {
    return base::errno_failure(errno, "cannot examine " + name_of(path));
  }
  if (!S_ISREG(entry.st_mode)) {
    return base::make_failure(ErrorCode::kInvalidData, name_of(path) + " is not a regular file");
  }
  if (is_of_kernel(found.get())) {
    return base::make_failure(ErrorCode::kInvalidData, name_of(path) + " is a file of the kernel");
  }
  auto file = reopen(found.get(), O_RDONLY);
  if (!file) {
    return base::fail(std::move(file).error().with_context(name_of(path)));
  }
  return file;
}

base::Result<std::string> TargetRoot::read(std::string_view path, std::size_t limit_bytes) const {
  JPROF_TRY_ASSIGN(const base::UniqueFd file, open_regular(path));
  return base::read_all(file.get(), limit_bytes, name_of(path));
}

} // namespace jprof::container
