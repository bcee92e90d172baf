// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/java_command.h"

#include <algorithm>
#include <array>

namespace jprof::jvm {
namespace {

constexpr std::size_t kMaxWords = 1U << 16;

// Options whose value is the next word (java(1), "white-space options").
constexpr std::array<std::string_view, 17> kTakeValue = {"-cp",
                                                         "-classpath",
                                                         "--class-path",
                                                         "-p",
                                                         "--module-path",
                                                         "--upgrade-module-path",
                                                         "--add-modules",
                                                         "--limit-modules",
                                                         "--add-exports",
                                                         "--add-opens",
                                                         "--add-reads",
                                                         "--patch-module",
                                                         "--enable-native-access",
                                                         "--describe-module",
                                                         "-d",
                                                         "--source",
                                                         "--illegal-native-access"};

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<std::string_view> words_of(std::string_view cmdline) {
  std::vector<std::string_view> words;
  while (!cmdline.empty() && words.size() < kMaxWords) {
    const std::size_t end = std::min(cmdline.find('\0'), cmdline.size());
    words.push_back(cmdline.substr(0, end));
    cmdline.remove_prefix(std::min(end + 1, cmdline.size()));
  }
  return words;
}

bool takes_value(std::string_view option) {
  return std::find(kTakeValue.begin(), kTakeValue.end(), option) != kTakeValue.end();
}

} // namespace

JavaCommand parse_java_command(std::string_view cmdline) {
  const std::vector<std::string_view> words = words_of(cmdline);
  JavaCommand command;
  const auto java = std::find_if(words.begin(), words.end(),
                                 [](std::string_view word) { return file_name(word) == "java"; });
  if (java == words.end()) {
    command.main = words.empty() ? std::string() : std::string(file_name(words[0]));
    return command;
  }
  for (auto word = java + 1; word != words.end(); ++word) {
    const bool has_next = word + 1 != words.end();
    if (*word == "-jar" || *word == "-m" || *word == "--module") {
      command.main = has_next ? std::string(*(word + 1)) : std::string();
      return command;
    }
    if (word->starts_with("--module=")) {
      command.main = word->substr(9);
      return command;
    }
    if (takes_value(*word)) {
      word += has_next ? 1 : 0;
    } else if (word->starts_with("-") || word->starts_with("@")) {
      command.vm_options.emplace_back(*word);
    } else {
      command.main = *word;
      return command;
    }
  }
  return command;
}

void apply_options(const std::vector<std::string>& options, JvmFlags& flags) {
  for (const std::string& option : options) {
    if (option == "-Xrs") {
      flags.signals_reduced = true;
    }
    if (!option.starts_with("-XX:") || option.size() < 6) {
      continue;
    }
    const bool on = option[4] == '+';
    const std::string_view name = std::string_view(option).substr(5);
    if (name == "DisableAttachMechanism") {
      flags.attach_disabled = on;
    } else if (name == "ReduceSignalUsage") {
      flags.signals_reduced = on;
    } else if (name == "StartAttachListener") {
      flags.attach_listener_early = on;
    } else if (name == "EnableDynamicAgentLoading") {
      flags.agents_disabled = !on;
      flags.agents_announced = on;
    }
  }
}

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote != '\0') {
      word.push_back(c);
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (!space) {
      word.push_back(c);
      in_word = true;
    } else if (in_word) {
      words.push_back(std::move(word));
      word.clear();
      in_word = false;
    }
    if (words.size() >= kMaxWords) {
      return words;
    }
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

} // namespace jprof::jvm
