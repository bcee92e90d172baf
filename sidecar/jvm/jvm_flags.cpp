// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/jvm_flags.h"

#include "lib/base/file.h"
#include "sidecar/container/access.h"
#include "sidecar/container/target_root.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::jvm {
namespace {

constexpr std::size_t kCommandBytes = 4U << 20U; // longer than any kernel takes by default
constexpr std::size_t kEnvironmentBytes = 4U << 20U;
constexpr std::size_t kOptionFileBytes = 1U << 20U;
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

OptionFile option_files(const Target& target) {
  return [&target, root = std::shared_ptr<container::TargetRoot>()](
             const std::string& path) mutable -> std::string {
    if (!root) {
      auto opened = container::open_root(target.process, base::Deadline::after(kStepTime));
      if (!opened) {
        return {};
      }
      root = std::make_shared<container::TargetRoot>(std::move(*opened));
    }
    std::string whole = path;
    if (!path.starts_with("/")) { // a JVM never leaves the directory that it was started in
      whole = target.process.read_link("cwd").value_or(std::string()) + "/" + path;
    }
    return root->read(whole, kOptionFileBytes).value_or(std::string());
  };
}

JvmFlags read_flags(const Target& target) {
  JvmFlags flags;
  const OptionFile read = option_files(target);
  const std::string environment = read_environment(target);
  const auto apply = [&](const std::vector<std::string>& options) {
    apply_options(expand_option_files(options, read), flags);
  };
  apply(split_options(variable(environment, "JAVA_TOOL_OPTIONS")));
  // The launcher inserts these before the words of the command line.
  std::vector<std::string> options =
      expand_argument_files(split_options(variable(environment, "JDK_JAVA_OPTIONS")), read);
  if (const auto cmdline = target.process.read("cmdline", kCommandBytes)) {
    const JavaCommand command = parse_java_command(*cmdline, read);
    options.insert(options.end(), command.vm_options.begin(), command.vm_options.end());
  }
  apply(options);
  apply(split_options(variable(environment, "_JAVA_OPTIONS")));
  return flags;
}

} // namespace jprof::jvm
