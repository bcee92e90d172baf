// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::jvm {

// Which Java a JVM is. What is not known is empty.
struct JvmRelease {
  std::string version; // "17.0.15+6", "8u504-b01"
  std::string vendor;  // "Eclipse Adoptium"
  std::string arch;    // of the library's machine code: "x86_64", "aarch64"
  int feature = 0;     // 8, 11, 17 ...; 0 if not known
};

// A version of Java 8 by the name that people know it by: "8u504-b01" of "1.8.0_504-b01" (its own)
// and of "25.504-b01" (HotSpot's, which counted for itself until 9). Any other is as it was.
std::string known_version(std::string_view version);

// 8 of "1.8.0_504" and "8u504", 17 of "17.0.15+6"; 0 of anything else.
int feature_version(std::string_view version);

// From the text that every HotSpot library carries since 6, "... VM (V) for OS-CPU JRE (V) ...",
// and the vendor's name, which stands alone between NULs. Reads at most 64 MiB of the library.
base::Result<JvmRelease> read_library(int library_fd);
// From the file `release` of a Java home: JAVA_RUNTIME_VERSION or JAVA_VERSION, IMPLEMENTOR.
JvmRelease parse_release_file(std::string_view text);
// The machine of an ELF header (System V ABI): a word, or "elf machine N".
std::string machine_name(std::string_view header);
// kJvmUnsupported where that is known and not ours: the agent is built for ours alone.
base::Status check_machine(const std::string& machine);

// Feeds on a library in overlapping pieces; separate for tests and the fuzzer.
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
