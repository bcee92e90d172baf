// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/maps.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace jprof::container {
namespace {

using base::ErrorCode;

constexpr std::size_t kBufferBytes =
    64 * 1024; // longer than any line: the kernel's limit is a page
constexpr std::string_view kDeletedMark = " (deleted)";

// A number in `radix` followed by `after`, both taken from the front of `text`.
template <typename T>
bool take(std::string_view& text, T& out, int radix, char after) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, radix);
  if (error != std::errc() || end == text.data() + text.size() || *end != after) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Libraries of tools that take the same signals or walk the same stacks as ours.
constexpr std::array<std::string_view, 6> kProfilers = {"libasyncProfiler", "libjavaProfiler",
                                                        "libddprof",        "libyjpagent",
                                                        "libjprofilerti",   "liblagent"};

} // namespace

std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  if (!take(line, mapping.begin, 16, '-') || !take(line, mapping.end, 16, ' ') || line.size() < 5 ||
      line[4] != ' ') {
    return std::nullopt;
  }
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take(line, mapping.file_offset, 16, ' ') || !take(line, mapping.device_major, 16, ':') ||
      !take(line, mapping.device_minor, 16, ' ')) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), mapping.inode);
  if (error != std::errc()) {
    return std::nullopt;
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  const auto path = line.find_first_not_of(' ');
  mapping.path = path == std::string_view::npos ? std::string_view{} : line.substr(path);
  if (mapping.path.size() > kDeletedMark.size() && mapping.path.ends_with(kDeletedMark)) {
    mapping.path.remove_suffix(kDeletedMark.size());
    mapping.deleted = true;
  }
  return mapping;
}

base::Status read_mappings(int fd, std::size_t limit_bytes,
                           const std::function<bool(const Mapping&)>& visit) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  std::size_t held = 0;
  std::size_t total = 0;
  for (;;) {
    if (held == kBufferBytes) {
      return base::make_failure(ErrorCode::kProtocol, "a line of the memory map is too long");
    }
    const ssize_t got = ::read(fd, buffer.get() + held, kBufferBytes - held);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return base::errno_failure(errno, "cannot read the memory map");
    }
    held += static_cast<std::size_t>(got);
    total += static_cast<std::size_t>(got);
    std::string_view text(buffer.get(), held);
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      if (const auto mapping = parse_mapping(text.substr(0, end)); mapping && !visit(*mapping)) {
        return {};
      }
      text.remove_prefix(end + 1);
    }
    if (got == 0) {
      return {};
    }
    if (total >= limit_bytes) {
      return base::make_failure(ErrorCode::kLimit, "the memory map is longer than we read");
    }
    held = text.size();
    std::memmove(buffer.get(), text.data(), held);
  }
}

void VmFinder::add(const Mapping& mapping) {
  // A file that is only read, whatever its name, does not make a process a JVM. A loader maps code,
  // or the data behind it: an emulator (qemu) never maps the code of what it runs as executable.
  const bool loaded = mapping.executable || (mapping.writable && mapping.file_offset != 0);
  if (!loaded || mapping.inode == 0) {
    return;
  }
  const std::string_view name = file_name(mapping.path);
  if (name == "libjvm.so") {
    if (found_.library.empty()) {
      found_.library = mapping.path;
      found_.library_deleted = mapping.deleted;
      found_.library_inode = mapping.inode;
    }
  } else if (name.starts_with("libj9vm") && name.ends_with(".so")) {
    openj9_ = mapping.path;
  } else if (name.starts_with("ld-musl-") || name.starts_with("libc.musl-") ||
             mapping.path.ends_with("-linux-musl/libc.so")) {
    found_.libc = Libc::kMusl;
  } else if (name == "libc.so.6" || (name.starts_with("libc-2.") && name.ends_with(".so"))) {
    // Alpine images with a glibc compatibility layer map both: the loader's libc, musl, is the one
    // that counts.
    found_.libc = found_.libc == Libc::kMusl ? Libc::kMusl : Libc::kGlibc;
  } else if (name == "libjprof.so" || (name.starts_with(".jprof-") && name.ends_with(".so"))) {
    if (found_.agent_library.empty()) {
      found_.agent_library = mapping.path;
    }
  } else {
    for (const std::string_view profiler : kProfilers) {
      if (name.starts_with(profiler)) {
        found_.other_profiler = name;
      }
    }
  }
}

LoadedVm VmFinder::result() const {
  LoadedVm vm = found_;
  if (!openj9_.empty()) {
    vm.vm = Vm::kOpenJ9;
    vm.library = openj9_;
  } else if (!vm.library.empty()) {
    vm.vm = Vm::kHotSpot;
  }
  return vm;
}

} // namespace jprof::container
