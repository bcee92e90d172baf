// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// /proc/PID/cmdline, the option variables of /proc/PID/environ, and the files that both name.
#include "sidecar/jvm/java_command.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = [text](const std::string& path) {
    return std::string(text.substr(path.size() % (text.size() + 1)));
  };
  const jprof::jvm::JavaCommand command = jprof::jvm::parse_java_command(text, read);
  jprof::jvm::JvmFlags flags;
  jprof::jvm::apply_options(command.vm_options, flags);
  jprof::jvm::apply_options(
      jprof::jvm::expand_option_files(
          jprof::jvm::expand_argument_files(jprof::jvm::split_options(text), read), read),
      flags);
  return 0;
}
