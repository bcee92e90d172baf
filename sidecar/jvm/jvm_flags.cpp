// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/jvm_flags.h"

#include "lib/base/file.h"
#include "sidecar/container/access.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace jprof::jvm {
namespace {

constexpr std::size_t kCommandBytes = 4U << 20U; // longer than any kernel takes by default
constexpr std::size_t kEnvironmentBytes = 4U << 20U;
constexpr std::chrono::seconds kStepTime{5};

// The value of a variable in /proc/PID/environ. Nothing else of it is kept: it may hold secrets.
std::string variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view entry = environment.substr(0, end);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return {};
}

std::string read_environment(const Target& target) {
  const auto file =
      container::open_guarded_file(target.process, "environ", base::Deadline::after(kStepTime));
  if (!file) {
    return {};
  }
  return base::read_all(file->get(), kEnvironmentBytes, "environ").value_or(std::string());
}

} // namespace

JvmFlags read_flags(const Target& target) {
  JvmFlags flags;
  const std::string environment = read_environment(target);
  const auto apply_variable = [&](std::string_view name) {
    apply_options(split_options(variable(environment, name)), flags);
  };
  apply_variable("JAVA_TOOL_OPTIONS");
  apply_variable("JDK_JAVA_OPTIONS");
  if (const auto cmdline = target.process.read("cmdline", kCommandBytes)) {
    apply_options(parse_java_command(*cmdline).vm_options, flags);
  }
  apply_variable("_JAVA_OPTIONS");
  return flags;
}

} // namespace jprof::jvm
