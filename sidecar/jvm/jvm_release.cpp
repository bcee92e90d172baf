// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/jvm_release.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <unistd.h>

namespace jprof::jvm {
namespace {

constexpr std::size_t kMaxBytes = 64U << 20U;
constexpr std::size_t kPieceBytes = 1U << 20U;
constexpr std::size_t kMaxVersionLength = 128;

// As distributions pass them to --with-vendor-name.
constexpr std::array<std::string_view, 11> kVendors = {"Eclipse Adoptium",
                                                       "Azul Systems, Inc.",
                                                       "Amazon.com Inc.",
                                                       "Red Hat, Inc.",
                                                       "SAP SE",
                                                       "BellSoft",
                                                       "GraalVM Community",
                                                       "IBM Corporation",
                                                       "Alibaba",
                                                       "Debian",
                                                       "Ubuntu"};

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= kMaxVersionLength && text[0] >= '0' && text[0] <= '9' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

// The value of KEY="value" in a line-based file.
std::string value_of(std::string_view text, std::string_view key) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=') {
      line.remove_prefix(key.size() + 1);
      if (line.size() >= 2 && line.front() == '"' && line.back() == '"') {
        line = line.substr(1, line.size() - 2);
      }
      return std::string(line.substr(0, kMaxVersionLength));
    }
  }
  return {};
}

} // namespace

std::string known_version(std::string_view version) {
  constexpr std::string_view kJava = "1.8.0_";
  constexpr std::string_view kHotspot = "25.";
  std::string_view update = version;
  if (version.starts_with(kJava)) {
    update.remove_prefix(kJava.size());
  } else if (version.starts_with(kHotspot) && version.find("-b") != std::string_view::npos) {
    update.remove_prefix(kHotspot.size());
  } else {
    return std::string(version);
  }
  // Java 25 has a second point or a plus here: "25.0.1+8".
  const std::size_t digits = std::min(update.find_first_not_of("0123456789"), update.size());
  const std::string_view rest = update.substr(digits);
  if (digits == 0 || !(rest.empty() || rest.front() == '-')) {
    return std::string(version);
  }
  // Debian's says it twice: "1.8.0_504-8u504-ga-1-b01".
  const std::size_t build = rest.starts_with("-8u") ? rest.rfind("-b") : 0;
  return "8u" + std::string(update.substr(0, digits)) +
         std::string(build == std::string_view::npos ? "" : rest.substr(build));
}

int feature_version(std::string_view version) {
  if (version.starts_with("1.")) {
    version.remove_prefix(2);
  }
  int feature = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), feature);
  return error == std::errc() && feature > 0 && feature < 1000 ? feature : 0;
}

std::string machine_name(std::string_view header) {
  constexpr std::size_t kMachineOffset = 18; // e_machine, little endian on all that we know
  if (header.size() < kMachineOffset + 2 || !header.starts_with("\177ELF")) {
    return {};
  }
  std::uint16_t machine = 0;
  std::memcpy(&machine, header.data() + kMachineOffset, sizeof machine);
  switch (machine) {
  case 62:
    return "x86_64";
  case 183:
    return "aarch64";
  case 3:
    return "x86";
  case 40:
    return "arm";
  case 243:
    return "riscv64";
  case 21:
    return "ppc64le";
  case 22:
    return "s390x";
  default:
    return "elf machine " + std::to_string(machine);
  }
}

base::Status check_machine(const std::string& machine) {
#if defined(__x86_64__)
  const std::string ours = "x86_64";
#elif defined(__aarch64__)
  const std::string ours = "aarch64";
#else
  const std::string ours;
#endif
  if (machine.empty() || ours.empty() || machine == ours) {
    return {};
  }
  return base::make_failure(
      base::ErrorCode::kJvmUnsupported,
      "the JVM is built for " + machine + " and jprof's agent for " + ours,
      "use a jprof image for " + machine +
          "; a JVM inside an emulator cannot be profiled, jprof attach works with it");
}

void LibraryScan::add(std::string_view piece) {
  constexpr std::string_view kMark = " JRE (";
  for (auto at = piece.find(kMark); found_.version.empty() && at != std::string_view::npos;
       at = piece.find(kMark, at + 1)) {
    const std::string_view rest = piece.substr(at + kMark.size());
    const auto close = rest.substr(0, kMaxVersionLength + 1).find(')');
    if (close != std::string_view::npos && is_version(rest.substr(0, close))) {
      found_.version = known_version(rest.substr(0, close));
      found_.feature = feature_version(found_.version);
    }
  }
  for (const std::string_view vendor : kVendors) {
    if (!found_.vendor.empty()) {
      return;
    }
    for (auto at = piece.find(vendor); at != std::string_view::npos;
         at = piece.find(vendor, at + 1)) {
      const std::size_t end = at + vendor.size();
      if (at > 0 && piece[at - 1] == '\0' && end < piece.size() && piece[end] == '\0') {
        found_.vendor = vendor;
        break;
      }
    }
  }
}

base::Result<JvmRelease> read_library(int library_fd) {
  LibraryScan scan;
  std::string piece(kPieceBytes + LibraryScan::kOverlapBytes, '\0');
  std::string machine;
  std::size_t offset = 0;
  while (offset < kMaxBytes && !scan.complete()) {
    const ssize_t got = ::pread(library_fd, piece.data(), piece.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return base::errno_failure(errno, "cannot read the JVM's library");
    }
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    if (offset == 0) {
      machine = machine_name(bytes);
    }
    scan.add(bytes);
    if (bytes.size() < piece.size()) {
      break;
    }
    offset += kPieceBytes;
  }
  JvmRelease release = scan.found();
  release.arch = machine;
  return release;
}

JvmRelease parse_release_file(std::string_view text) {
  JvmRelease release;
  release.version = value_of(text, "JAVA_RUNTIME_VERSION");
  if (release.version.empty()) {
    release.version = value_of(text, "JAVA_VERSION");
  }
  release.version = known_version(release.version);
  release.vendor = value_of(text, "IMPLEMENTOR");
  release.feature = feature_version(release.version);
  return release;
}

} // namespace jprof::jvm
