// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/region_memory.h"

#include "lib/base/mebibytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace jprof::record {
namespace {

// Written, not only allocated: the page cache then holds pages that are ready, and a page fault of
// the JVM maps 16 of them at a time. Pages of fallocate(2) are cleared at the JVM's first access,
// with one fault each (mm/shmem.c does not mark them up to date).
base::Status make_pages(int fd, std::uint64_t bytes) {
  static constexpr std::array<char, std::size_t{64} << 10> kZeros{};
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t wrote =
        ::pwrite(fd, kZeros.data(), std::min<std::uint64_t>(kZeros.size(), bytes - at),
                 static_cast<off_t>(at));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      const int error = wrote < 0 ? errno : ENOSPC;
      return base::fail(
          base::errno_error(error, "cannot allocate " + base::mebibytes(bytes) +
                                       " for the recording region")
              .with_cure(error == EFBIG // limits on the size of files apply to a memfd
                             ? "raise the limit on the size of files (ulimit -f)"
                             : "give the jprof container more memory"));
    }
    at += static_cast<std::uint64_t>(wrote);
  }
  return {};
}

} // namespace

base::Result<base::UniqueFd> make_region(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t rounded = (bytes + page - 1) / page * page;
  base::UniqueFd fd(::memfd_create("jprof-region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return base::errno_failure(errno, "cannot make the recording region");
  }
  JPROF_TRY(make_pages(fd.get(), rounded));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return base::errno_failure(errno, "cannot seal the recording region");
  }
  return fd;
}

} // namespace jprof::record
