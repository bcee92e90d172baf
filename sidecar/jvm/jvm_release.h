// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::jvm {

// Which Java a JVM is. What is unknown is empty.
struct JvmRelease {
  std::string version; // "17.0.15+6", "8u504-b01"
  std::string vendor;  // "Eclipse Adoptium"
  std::string arch;    // of the library's machine code: "x86_64", "aarch64"
  int feature = 0;     // 8, 11, 17 ...; 0 if unknown
};

// A version of Java 8 under its familiar name: "8u504-b01" for "1.8.0_504-b01" (Java's own) and for
// "25.504-b01" (HotSpot's, which had its own numbers until 9). Any other is unchanged.
std::string known_version(std::string_view version);

// 8 for "1.8.0_504" and "8u504", 17 for "17.0.15+6"; 0 for anything else.
int feature_version(std::string_view version);

// From the text that every HotSpot library has contained since 6, "... VM (V) for OS-CPU JRE (V)
// ...", and the vendor's name, which stands alone between NULs. Reads at most 64 MiB of the
// library.
base::Result<JvmRelease> read_library(int library_fd);
// From the file `release` of a Java home: JAVA_RUNTIME_VERSION or JAVA_VERSION, IMPLEMENTOR.
JvmRelease parse_release_file(std::string_view text);
// The machine of an ELF header (System V ABI): a word, or "elf machine N".
std::string machine_name(std::string_view header);
// kJvmUnsupported if that is known and not ours: the agent is built only for ours.
base::Status check_machine(const std::string& machine);

// Fed with a library in overlapping pieces; separate for tests and the fuzzer.
class LibraryScan {
 public:
  void add(std::string_view piece);
  bool complete() const { return !found_.version.empty() && !found_.vendor.empty(); }
  const JvmRelease& found() const { return found_; }
  static constexpr std::size_t kOverlapBytes = 512;

 private:
  JvmRelease found_;
};

} // namespace jprof::jvm
