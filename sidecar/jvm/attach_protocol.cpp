// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_protocol.h"

#include "lib/base/text.h"
#include "sidecar/jvm/quoted.h"

#include <charconv>
#include <optional>

namespace jprof::jvm {
namespace {

using base::ErrorCode;

std::optional<int> leading_int(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

base::Status check_words(const AttachCommand& command) {
  bool nul = command.name.find('\0') != std::string::npos;
  for (const std::string& argument : command.arguments) {
    nul = nul || argument.find('\0') != std::string::npos;
  }
  if (nul || command.name.empty()) {
    return base::make_failure(ErrorCode::kUsage,
                              "the words of an attach command cannot contain a NUL byte");
  }
  if (command.name.size() > kMaxCommandBytes) {
    return base::make_failure(ErrorCode::kUsage, "no attach command is called '" +
                                                     base::printable(command.name, 40) + "'");
  }
  return {};
}

void append_word(std::string& out, std::string_view word) {
  out.append(word);
  out.push_back('\0');
}

base::Error load_failure(std::string_view said) {
  if (said.find("ynamic agent loading is not enabled") != std::string_view::npos) {
    return base::make_error(
        ErrorCode::kAgentLoadingDisabled, "the JVM forbids loading agents while it runs",
        "remove -XX:-EnableDynamicAgentLoading from the JVM's options, or start it "
        "with -agentpath:<libjprof.so>");
  }
  if (said.empty()) {
    said = "it gave no reason";
  }
  return base::make_error(
      ErrorCode::kAgentFailed, "the JVM could not load the library: " + quoted(said),
      "name a library that exists in the JVM's container, by its absolute path "
      "or by the name that System.loadLibrary() takes, is built for its machine "
      "and C library, and exports Agent_OnAttach");
}

} // namespace

bool fits_version_1(const AttachCommand& command) {
  if (command.arguments.size() > kArgumentCount) {
    return false;
  }
  for (const std::string& argument : command.arguments) {
    if (argument.size() > kMaxArgumentBytes) {
      return false;
    }
  }
  return true;
}

base::Result<std::string> encode_version_1(const AttachCommand& command) {
  JPROF_TRY(check_words(command));
  if (!fits_version_1(command)) {
    return base::make_failure(
        ErrorCode::kLimit, "this JVM takes at most three arguments of 1024 bytes",
        "shorten the arguments, or put them into a file that the command reads; "
        "JDK 24 and later take 256 KiB");
  }
  std::string out;
  append_word(out, "1");
  append_word(out, command.name);
  for (std::size_t i = 0; i < kArgumentCount; ++i) {
    append_word(out, i < command.arguments.size() ? command.arguments[i] : std::string());
  }
  return out;
}

base::Result<std::string> encode_version_2(const AttachCommand& command) {
  JPROF_TRY(check_words(command));
  std::string body;
  append_word(body, command.name);
  for (const std::string& argument : command.arguments) {
    append_word(body, argument);
  }
  if (body.size() > kMaxVersion2Bytes) {
    return base::make_failure(ErrorCode::kLimit, "a JVM takes at most 256 KiB of arguments");
  }
  std::string out;
  append_word(out, "2");
  append_word(out, std::to_string(body.size()));
  return out + body;
}

base::Result<AttachReply> parse_reply(std::string_view bytes) {
  if (bytes.empty()) {
    return base::make_failure(ErrorCode::kAttachFailed,
                              "the JVM closed the connection without an answer",
                              "it may be exiting, or the command is longer than it takes");
  }
  AttachReply reply;
  const auto code = leading_int(bytes);
  if (!code || bytes.empty() || bytes[0] != '\n') {
    return base::make_failure(
        ErrorCode::kProtocol, "the answer on the JVM's attach socket is not of its protocol",
        "something else answers there: look at /tmp/.java_pid* in the target");
  }
  reply.code = *code;
  reply.text = bytes.substr(1);
  return reply;
}

base::Result<int> interpret_load(const AttachReply& reply) {
  constexpr std::string_view kPrefix = "return code:";
  std::string_view said = base::trimmed(reply.text);
  if (said.starts_with(kPrefix)) {
    std::string_view rest = base::trimmed(said.substr(kPrefix.size()));
    if (const auto value = leading_int(rest); value && base::trimmed(rest).empty()) {
      return *value;
    }
  }
  std::string_view rest = said;
  if (const auto value = leading_int(rest); value && rest.empty() && reply.code == 0) {
    return *value; // JDK 8
  }
  if (said.empty() && reply.code == 0) {
    return 0; // early 9 builds answer with the result alone
  }
  return base::fail(load_failure(said));
}

int supported_version(const AttachReply& reply) {
  std::string_view text = base::trimmed(reply.text);
  const auto version = leading_int(text);
  return reply.code == 0 && version.value_or(1) >= 2 ? 2 : 1;
}

} // namespace jprof::jvm
