// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// /proc/PID/maps: the kernel writes the lines, the target chose the paths.
#include "sidecar/container/maps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// The lines as read_mappings gives them, out of a file: the same, or none at all where one is too
// long.
std::size_t count_read(std::string_view text) {
  static const int file = ::memfd_create("maps", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0 ||
      ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file, 0, SEEK_SET) != 0) {
    std::abort();
  }
  std::size_t count = 0;
  const auto read = jprof::container::read_mappings(file, std::size_t{1} << 20U,
                                                    [&count](const jprof::container::Mapping&) {
                                                      ++count;
                                                      return true;
                                                    });
  return read ? count : SIZE_MAX;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::container::VmFinder finder;
  std::string_view rest = text;
  std::size_t count = 0; // of whole lines
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (const auto mapping = jprof::container::parse_mapping(rest.substr(0, end))) {
      finder.add(*mapping);
      count += std::size_t{end < rest.size()};
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  (void)finder.result();
  if (const std::size_t read = count_read(text); read != count && read != SIZE_MAX) {
    std::abort();
  }
  return 0;
}
