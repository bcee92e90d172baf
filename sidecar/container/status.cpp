// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/status.h"

#include "lib/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace jprof::container {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxNamespaceLevels = 33; // the kernel's MAX_PID_NS_LEVEL and ours

// Removes the first word from `text` and returns it.
std::string_view take_word(std::string_view& text) {
  text = base::trimmed(text);
  const auto end = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
  return word;
}

template <typename T>
std::optional<T> number(std::string_view word, int radix = 10) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, radix);
  if (error != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  return value;
}

// "real effective saved filesystem"
template <typename T>
bool take_ids(std::string_view text, T& real, T& effective, T& saved) {
  for (T* id : {&real, &effective, &saved}) {
    const auto value = number<T>(take_word(text));
    if (!value) {
      return false;
    }
    *id = *value;
  }
  return true;
}

bool take_hex(std::string_view text, std::uint64_t& out) {
  const auto value = number<std::uint64_t>(take_word(text), 16);
  out = value.value_or(0);
  return value.has_value();
}

bool take_pids(std::string_view text, std::vector<pid_t>& out) {
  std::vector<pid_t> pids; // `out` keeps its value where this line is malformed
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto pid = number<pid_t>(word);
    if (!pid || *pid < 0 || pids.size() == kMaxNamespaceLevels) {
      return false;
    }
    pids.push_back(*pid);
  }
  if (pids.empty()) {
    return false;
  }
  out = std::move(pids);
  return true;
}

// One bit for each line that must be there.
constexpr unsigned kState = 1;
constexpr unsigned kUid = 2;
constexpr unsigned kGid = 4;
constexpr unsigned kNamespacePids = 8;
constexpr unsigned kPermitted = 16;
constexpr unsigned kEffective = 32;
constexpr unsigned kCaught = 64;
constexpr unsigned kAll = 127;

// The bit of the field that this line gave, 0 if it is not one of ours or is malformed.
unsigned take_line(std::string_view key, std::string_view value, ProcessStatus& out) {
  if (key == "Name") {
    out.name = base::trimmed(value);
    return 0;
  }
  if (key == "Threads") {
    out.threads = number<std::uint64_t>(base::trimmed(value)).value_or(0);
    return 0;
  }
  if (key == "FDSize") {
    out.descriptor_slots = number<std::uint64_t>(base::trimmed(value)).value_or(0);
    return 0;
  }
  if (key == "SigQ") { // "used/limit"
    const std::string_view both = base::trimmed(value);
    const std::size_t slash = std::min(both.find('/'), both.size());
    out.queued_signals = number<std::uint64_t>(both.substr(0, slash)).value_or(0);
    out.queued_signals_limit =
        number<std::uint64_t>(both.substr(std::min(slash + 1, both.size()))).value_or(0);
    return 0;
  }
  if (key == "State") {
    const std::string_view word = base::trimmed(value);
    out.state = word.empty() ? '?' : word[0];
    return word.empty() ? 0 : kState;
  }
  if (key == "Uid") {
    return take_ids(value, out.real_uid, out.effective_uid, out.saved_uid) ? kUid : 0;
  }
  if (key == "Gid") {
    return take_ids(value, out.real_gid, out.effective_gid, out.saved_gid) ? kGid : 0;
  }
  if (key == "NSpid") {
    return take_pids(value, out.namespace_pids) ? kNamespacePids : 0;
  }
  if (key == "CapPrm") {
    return take_hex(value, out.permitted_capabilities) ? kPermitted : 0;
  }
  if (key == "CapEff") {
    return take_hex(value, out.effective_capabilities) ? kEffective : 0;
  }
  if (key == "SigPnd") {
    (void)take_hex(value, out.pending_signals);
    return 0;
  }
  if (key == "SigCgt") {
    return take_hex(value, out.caught_signals) ? kCaught : 0;
  }
  return 0;
}

} // namespace

base::Result<ProcessStatus> parse_status(std::string_view text) {
  ProcessStatus status;
  unsigned seen = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) {
      seen |= take_line(line.substr(0, colon), line.substr(colon + 1), status);
    }
  }
  if (seen != kAll) {
    return base::make_failure(ErrorCode::kProtocol,
                              "process status lacks a line, or one is not a number",
                              "jprof needs a Linux kernel of 4.1 or later");
  }
  return status;
}

base::Result<ProcessStat> parse_stat(std::string_view text) {
  constexpr int kStateField = 3, kFlagsField = 9, kThreadsField = 20, kStartField = 22;
  constexpr int kExitField = 52;
  const auto close = text.rfind(')'); // the name before it is the process's own choice
  if (close == std::string_view::npos) {
    return base::make_failure(ErrorCode::kProtocol, "process stat has no name");
  }
  text = base::trimmed(text.substr(close + 1));
  ProcessStat stat;
  const std::string_view state = take_word(text);
  stat.state = state.empty() ? '?' : state[0];
  for (int field = kStateField + 1; field < kStartField; ++field) {
    const std::string_view word = take_word(text);
    if (field == kFlagsField) {
      stat.flags = number<std::uint64_t>(word).value_or(0);
    } else if (field == kThreadsField) {
      stat.threads = number<std::uint64_t>(word).value_or(0);
    }
  }
  std::string_view start = take_word(text);
  while (!start.empty() && start.back() == '\n') {
    start.remove_suffix(1);
  }
  const auto ticks = number<std::uint64_t>(start);
  if (!ticks) {
    return base::make_failure(ErrorCode::kProtocol, "process stat has no start time");
  }
  stat.start_ticks = *ticks;
  std::string_view last;
  for (int field = kStartField + 1; field <= kExitField; ++field) {
    last = take_word(text);
  }
  stat.exit_code = number<int>(base::trimmed(last)).value_or(0);
  return stat;
}

} // namespace jprof::container
