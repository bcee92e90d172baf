// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/directory.h"

#include "lib/base/unique_fd.h"
#include "lib/base/unique_resource.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>

namespace jprof::base {
namespace {

struct DirectoryCloser {
  using Handle = DIR*;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle) { ::closedir(handle); }
};

// `opened` is a descriptor of its own, or -1 with errno set.
Result<std::vector<std::string>> read_names(UniqueFd opened, std::size_t most) {
  const UniqueResource<DirectoryCloser> listing(opened ? ::fdopendir(opened.get()) : nullptr);
  if (!listing) {
    return errno_failure(errno, "cannot list a directory");
  }
  (void)opened.release(); // closedir closes it
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = names.size() < most ? ::readdir(listing.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    errno = 0;
  }
  if (errno != 0) {
    return errno_failure(errno, "cannot list a directory");
  }
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

Result<std::vector<std::string>> names_in(int directory, std::size_t most) {
  return read_names(UniqueFd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), most);
}

Result<std::vector<std::string>> names_in(const std::string& path, std::size_t most) {
  return read_names(UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), most);
}

} // namespace jprof::base
