// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/java_command.h"

#include <algorithm>
#include <array>

namespace jprof::jvm {
namespace {

constexpr std::size_t kMaxWords = 1U << 16;
constexpr int kMaxFiles = 32;

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

std::vector<std::string> words_of(std::string_view cmdline) {
  std::vector<std::string> words;
  while (!cmdline.empty() && words.size() < kMaxWords) {
    const std::size_t end = std::min(cmdline.find('\0'), cmdline.size());
    words.emplace_back(cmdline.substr(0, end));
    cmdline.remove_prefix(std::min(end + 1, cmdline.size()));
  }
  return words;
}

bool takes_value(std::string_view option) {
  return std::find(kTakeValue.begin(), kTakeValue.end(), option) != kTakeValue.end();
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Words before and at the current place; those that came from a file do not name files.
class ArgumentFiles {
 public:
  explicit ArgumentFiles(const OptionFile& read) : read_(read) {}

  // Replaces the word at `at` by the words of the file that it names.
  bool expand(std::vector<std::string>& words, std::size_t at) {
    const std::string word = words[at];
    if (at < from_file_ || !read_ || left_ == 0 || word.size() < 2 || word[0] != '@' ||
        word[1] == '@') {
      stopped_ = stopped_ || word == "--disable-@files";
      return false;
    }
    if (stopped_) {
      return false;
    }
    --left_;
    std::vector<std::string> held = split_argument_file(read_(word.substr(1)));
    held.resize(std::min(held.size(), kMaxWords - std::min(kMaxWords, words.size())));
    const auto place = words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    words.insert(place, held.begin(), held.end());
    from_file_ = at + held.size();
    return true;
  }

 private:
  const OptionFile& read_;
  std::size_t from_file_ = 0;
  int left_ = kMaxFiles;
  bool stopped_ = false;
};

// The tokens of a text that is split at white space.
class Words {
 public:
  void add(char c) {
    word_.push_back(c);
    open_ = true;
  }
  void open() { open_ = true; }
  void close() {
    if (open_) {
      words_.push_back(std::move(word_));
      word_.clear();
      open_ = false;
    }
  }
  bool full() const { return words_.size() >= kMaxWords; }
  std::vector<std::string> take() {
    close();
    return std::move(words_);
  }

 private:
  std::vector<std::string> words_;
  std::string word_;
  bool open_ = false;
};

char unescaped(char c) {
  switch (c) {
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  case 'f':
    return '\f';
  default:
    return c;
  }
}

} // namespace

JavaCommand parse_java_command(std::string_view cmdline, const OptionFile& read) {
  std::vector<std::string> words = words_of(cmdline);
  JavaCommand command;
  const auto java = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return file_name(word) == "java"; });
  if (java == words.end()) {
    command.main = words.empty() ? std::string() : std::string(file_name(words[0]));
    return command;
  }
  words.erase(words.begin(), java + 1);
  ArgumentFiles files(read);
  for (std::size_t i = 0; i < words.size(); ++i) {
    while (i < words.size() && files.expand(words, i)) {
    }
    if (i == words.size()) {
      break;
    }
    const std::string& word = words[i];
    const bool has_next = i + 1 < words.size();
    if (word == "-jar" || word == "-m" || word == "--module") {
      command.main = has_next ? words[i + 1] : std::string();
      return command;
    }
    if (word.starts_with("--module=")) {
      command.main = word.substr(9);
      return command;
    }
    if (takes_value(word)) {
      i += has_next ? 1 : 0;
    } else if (word.starts_with("-") || word.starts_with("@")) {
      command.vm_options.push_back(word);
    } else {
      command.main = word;
      return command;
    }
  }
  return command;
}

std::vector<std::string> expand_argument_files(std::vector<std::string> words,
                                               const OptionFile& read) {
  ArgumentFiles files(read);
  for (std::size_t i = 0; i < words.size(); ++i) {
    while (i < words.size() && files.expand(words, i)) {
    }
  }
  return words;
}

std::vector<std::string> expand_option_files(const std::vector<std::string>& options,
                                             const OptionFile& read) {
  constexpr std::string_view kFlags = "-XX:Flags=";
  constexpr std::string_view kOptions = "-XX:VMOptionsFile=";
  std::vector<std::string> first;
  std::vector<std::string> all;
  int left = kMaxFiles;
  for (const std::string& option : options) {
    if (option.starts_with(kFlags) && left-- > 0) {
      // Its words are flags without their "-XX:" (Arguments::process_settings_file).
      for (const std::string& flag : split_argument_file(read(option.substr(kFlags.size())))) {
        first.push_back("-XX:" + flag);
      }
    } else if (option.starts_with(kOptions) && left-- > 0) {
      for (std::string& held : split_options(read(option.substr(kOptions.size())))) {
        all.push_back(std::move(held));
      }
    } else {
      all.push_back(option);
    }
  }
  first.insert(first.end(), all.begin(), all.end());
  return first;
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
    } else if (name == "DebugNonSafepoints") {
      flags.inlining_detailed = on;
    }
  }
}

std::vector<std::string> split_options(std::string_view text) {
  Words words;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote != '\0') {
      words.add(c);
    } else if (c == '"' || c == '\'') {
      quote = c;
      words.open();
    } else if (!is_space(c)) {
      words.add(c);
    } else {
      words.close();
    }
    if (words.full()) {
      break;
    }
  }
  return words.take();
}

std::vector<std::string> split_argument_file(std::string_view text) {
  Words words;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size() && !words.full(); ++i) {
    const char c = text[i];
    if (quote != '\0' && c == '\\' && i + 1 < text.size()) {
      words.add(unescaped(text[++i]));
    } else if (quote != '\0' && (c == quote || c == '\n')) {
      quote = '\0';
    } else if (quote != '\0') {
      words.add(c);
    } else if (c == '#') {
      words.close();
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      quote = c;
      words.open();
    } else if (is_space(c)) {
      words.close();
    } else {
      words.add(c);
    }
  }
  return words.take();
}

} // namespace jprof::jvm
