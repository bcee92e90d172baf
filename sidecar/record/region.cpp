// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/region.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace jprof::record {

base::Result<base::UniqueFd> make_region(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t rounded = (bytes + page - 1) / page * page;
  base::UniqueFd fd(::memfd_create("jprof-region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return base::errno_failure(errno, "cannot make the recording region");
  }
  // fallocate and not ftruncate: it makes the pages now, at our expense.
  while (::fallocate(fd.get(), 0, 0, static_cast<off_t>(rounded)) != 0) {
    if (errno == EINTR) {
      continue;
    }
    return base::fail(base::errno_error(errno, "cannot allocate " + std::to_string(rounded >> 20) +
                                                   " MiB for the recording region")
                          .with_cure("give the jprof container more memory"));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return base::errno_failure(errno, "cannot seal the recording region");
  }
  return fd;
}

} // namespace jprof::record
