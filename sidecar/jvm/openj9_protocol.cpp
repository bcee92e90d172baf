// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/openj9_protocol.h"

#include "lib/base/text.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace jprof::jvm {
namespace {

using base::ErrorCode;

constexpr std::string_view kAccepted = "ATTACH_ACK";
constexpr std::string_view kRefused = "ATTACH_ERR";
constexpr std::string_view kAgentException = "AgentInitializationException";
constexpr std::string_view kTextProperty = "openj9_diagnostics.string_result=";
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDiagnostics = {
    {{"threaddump", "Thread.print"},
     {"datadump", "Dump.java"},
     {"dumpheap", "Dump.heap"},
     {"inspectheap", "GC.class_histogram"}}};

const std::string& argument(const AttachCommand& command, std::size_t index) {
  static const std::string none;
  return index < command.arguments.size() ? command.arguments[index] : none;
}

std::string encode_load(const AttachCommand& command) {
  const bool absolute = argument(command, 1) == "true";
  return std::string(absolute ? "ATTACH_LOADAGENTPATH(" : "ATTACH_LOADAGENT(") +
         argument(command, 0) + "," + argument(command, 2) + ")";
}

// A diagnostic's words are separated by commas; those of a jcmd line, which is one argument, by
// spaces.
std::string encode_diagnostic(std::string_view name, const AttachCommand& command) {
  std::string out = "ATTACH_DIAGNOSTICS:" + std::string(name);
  for (const std::string& word : command.arguments) {
    out += (name.empty() && out.ends_with(':') ? "" : ",") + word;
  }
  if (name.empty()) {
    for (char& byte : out) {
      byte = byte == ' ' ? ',' : byte;
    }
  }
  return out;
}

int hex_digit(char byte) {
  return byte >= '0' && byte <= '9'   ? byte - '0'
         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                      : -1;
}

// Decodes \uXXXX at the beginning of `text` to UTF-8; nothing is taken if it is malformed.
// Surrogates come out one by one, as the JVM wrote them.
std::size_t append_unicode(std::string_view text, std::string& out) {
  constexpr std::size_t kLength = 6;
  unsigned value = 0;
  if (text.size() < kLength) {
    return 0;
  }
  for (const char byte : text.substr(2, 4)) {
    const int digit = hex_digit(byte);
    if (digit < 0) {
      return 0;
    }
    value = value * 16 + static_cast<unsigned>(digit);
  }
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0U | value >> 6U);
    out += static_cast<char>(0x80U | (value & 0x3FU));
  } else {
    out += static_cast<char>(0xE0U | value >> 12U);
    out += static_cast<char>(0x80U | (value >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (value & 0x3FU));
  }
  return kLength;
}

// A value of java.util.Properties.store, up to the end of its line.
std::string unescape(std::string_view value) {
  value = value.substr(0, value.find_first_of("\r\n"));
  std::string out;
  while (!value.empty()) {
    const auto backslash = value.find('\\');
    out += value.substr(0, backslash);
    if (backslash == value.npos || backslash + 1 == value.size()) {
      break;
    }
    value.remove_prefix(backslash);
    std::size_t taken = value[1] == 'u' ? append_unicode(value, out) : 0;
    if (taken == 0) {
      constexpr std::string_view kFrom = "fnrt";
      constexpr std::string_view kTo = "\f\n\r\t";
      const auto known = kFrom.find(value[1]);
      out += known == kFrom.npos ? value[1] : kTo[known];
      taken = 2;
    }
    value.remove_prefix(taken);
  }
  return out;
}

AttachReply parse_load(std::string_view answer) {
  if (answer.starts_with(kAccepted)) {
    return {0, "return code: 0\n"};
  }
  std::string_view said =
      base::trimmed(answer.substr(answer.starts_with(kRefused) ? kRefused.size() : 0));
  if (said.starts_with(kAgentException)) {
    const std::string_view number = base::trimmed(said.substr(kAgentException.size()));
    int code = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), code).ec == std::errc()) {
      return {0, "return code: " + std::to_string(code) + "\n"};
    }
  }
  return {-1, std::string(said)};
}

} // namespace

std::string openj9_greeting(std::uint64_t key) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(key));
  return "ATTACH_CONNECTED " + std::string(digits.data()) + " ";
}

std::string openj9_reply_info(std::uint64_t key, std::uint16_t port) {
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%016llx\n%u\n",
                                 static_cast<unsigned long long>(key), port);
  return {text.data(), static_cast<std::size_t>(size)};
}

base::Result<std::string> encode_openj9(const AttachCommand& command) {
  for (const std::string& word : command.arguments) {
    if (word.find('\0') != word.npos) {
      return base::make_failure(ErrorCode::kUsage, "an argument contains a NUL byte");
    }
  }
  if (command.name == "load") {
    return encode_load(command);
  }
  if (command.name == "properties") {
    return std::string("ATTACH_GETSYSTEMPROPERTIES");
  }
  if (command.name == "agentProperties") {
    return std::string("ATTACH_GETAGENTPROPERTIES");
  }
  if (command.name == "jcmd") {
    return encode_diagnostic("", command);
  }
  for (const auto& [name, diagnostic] : kDiagnostics) {
    if (name == command.name) {
      return encode_diagnostic(diagnostic, command);
    }
  }
  return base::make_failure(ErrorCode::kUsage, "an OpenJ9 JVM has no command like " + command.name,
                            "its own are listed by: jcmd help");
}

AttachReply parse_openj9(const AttachCommand& command, std::string_view answer) {
  AttachReply reply;
  if (command.name == "load") {
    reply = parse_load(answer);
  } else if (answer.starts_with(kRefused)) {
    reply = {-1, std::string(base::trimmed(answer.substr(kRefused.size())))};
  } else if (const auto at = answer.find(kTextProperty); at != answer.npos) {
    reply.text = unescape(answer.substr(at + kTextProperty.size()));
  } else {
    reply.text = answer;
  }
  reply.openj9 = true;
  return reply;
}

} // namespace jprof::jvm
