// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/jvm_process.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace jprof::testing {

std::optional<std::string> part_directory(const std::string& name) {
  ChildProcess where({JPROF_SOURCE_DIR "/scripts/parts", "--where", name});
  const auto line = where.read_line(std::chrono::seconds(20));
  if (!line || ::access(line->c_str(), R_OK) != 0) {
    return std::nullopt;
  }
  return line;
}

std::unique_ptr<ChildProcess> start_jvm(const JvmOptions& options) {
  const auto part = part_directory(options.part);
  if (!part) {
    return nullptr;
  }
  std::vector<std::string> words = options.prefix;
  if (!options.run_as.empty()) {
    words.insert(words.end(), {"env", "RUN_AS=" + options.run_as});
  }
  words.push_back(*part + "/run-java");
  words.insert(words.end(), options.options.begin(), options.options.end());
  words.insert(words.end(), {"-Xmx32m", "-Xshare:auto", "-cp", JPROF_TEST_CLASSES, options.main});
  return std::make_unique<ChildProcess>(words);
}

std::unique_ptr<ChildProcess> start_ready_jvm(const JvmOptions& options) {
  auto jvm = start_jvm(options);
  if (!jvm) {
    return nullptr;
  }
  const auto line = jvm->read_line(std::chrono::seconds(60));
  return line && *line == "ready" ? std::move(jvm) : nullptr;
}

} // namespace jprof::testing
