// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/checks/check.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace jprof::checks {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxTextLength = 1000;
constexpr std::size_t kMaxRows = 1000;

struct Row {
  CheckId id;
  std::string_view word;
  std::string_view question;
};

constexpr std::array<Row, 24> kRows = {{
    {CheckId::kClusterReachable, "cluster", "does the cluster answer?"},
    {CheckId::kPodRunning, "pod", "is the pod running?"},
    {CheckId::kExecAllowed, "exec", "may you exec into the pod?"},
    {CheckId::kSidecarThere, "sidecar", "does the pod have a jprof container?"},
    {CheckId::kEphemeral, "ephemeral", "may you add an ephemeral container?"},
    {CheckId::kPodSpec, "spec", "does the pod's specification leave room for it?"},
    {CheckId::kSidecarVersion, "version", "do both sides understand each other?"},
    {CheckId::kProcess, "process", "is the process alive and running?"},
    {CheckId::kJvm, "jvm", "is it a JVM that jprof knows?"},
    {CheckId::kAccess, "access", "do uid, gid and capabilities match?"},
    {CheckId::kAttach, "attach", "does the JVM take commands?"},
    {CheckId::kTmp, "tmp", "can the JVM's /tmp be written?"},
    {CheckId::kAgents, "agents", "may agents be loaded?"},
    {CheckId::kPlace, "place", "is there a place for the agent?"},
    {CheckId::kOtherProfiler, "profiler", "is no other profiler in the JVM?"},
    {CheckId::kTimers, "timers", "are there timers for every thread?"},
    {CheckId::kMemory, "memory", "is there memory for a capture?"},
    {CheckId::kNotice, "notice", "does the JVM stay silent?"},
    {CheckId::kInlining, "inlining", "are inlined methods known in all compiled code?"},
    {CheckId::kSelf, "self", "is jprof itself closed to the JVM?"},
    {CheckId::kSandbox, "sandbox", "is what reads the JVM's data sandboxed?"},
    {CheckId::kFree, "free", "is no other capture in the way?"},
    {CheckId::kRoom, "room", "would the sidecar accept another capture now?"},
    {CheckId::kLimits, "limits", "does the sidecar still have the limits that it started with?"},
}};
static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].id) != i) {
      return false;
    }
  }
  return true;
}());

constexpr std::array<std::string_view, 4> kVerdicts = {"pass", "warn", "fail", "skip"};
constexpr std::array<std::string_view, 4> kColors = {"\033[32m", "\033[33m", "\033[31m", "\033[2m"};

template <typename Enum>
constexpr std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, text.size()), ' ');
  return out;
}

} // namespace

std::string_view check_word(CheckId id) {
  return kRows[index(id)].word;
}

std::string_view check_question(CheckId id) {
  return kRows[index(id)].question;
}

Check pass(CheckId id, std::string detail) {
  return {id, Verdict::kPass, std::move(detail), {}, ErrorCode::kInternal};
}

Check warn(CheckId id, std::string detail, std::string cure) {
  return {id, Verdict::kWarn, std::move(detail), std::move(cure), ErrorCode::kInternal};
}

Check fail(CheckId id, const base::Error& error) {
  return {id, Verdict::kFail, error.message, error.cure, error.code};
}

Check skip(CheckId id, std::string detail) {
  return {id, Verdict::kSkip, std::move(detail), {}, ErrorCode::kInternal};
}

int exit_code(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    if (check.verdict == Verdict::kFail) {
      return base::exit_code(check.code);
    }
  }
  return 0;
}

base::Json to_json(const std::vector<Check>& checks) {
  base::Json rows = base::Json::array();
  for (const Check& check : checks) {
    base::Json row = {{"check", check_word(check.id)},
                      {"verdict", kVerdicts[index(check.verdict)]},
                      {"detail", check.detail}};
    if (!check.cure.empty()) {
      row["cure"] = check.cure;
    }
    if (check.verdict == Verdict::kFail) {
      row["reason"] = base::reason_word(check.code);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

base::Result<std::vector<Check>> from_json(const base::Json& rows) {
  if (!rows.is_array() || rows.size() > kMaxRows) {
    return base::make_failure(ErrorCode::kProtocol, "the answer holds no list of checks");
  }
  std::vector<Check> checks;
  for (const base::Json& row : rows) {
    const std::string word = base::json_string(row, "check");
    const auto known = std::find_if(kRows.begin(), kRows.end(), [&word](const Row& candidate) {
      return candidate.word == word;
    });
    const auto verdict =
        std::find(kVerdicts.begin(), kVerdicts.end(), base::json_string(row, "verdict"));
    if (known == kRows.end() || verdict == kVerdicts.end()) {
      continue;
    }
    checks.push_back({known->id, static_cast<Verdict>(verdict - kVerdicts.begin()),
                      base::json_string(row, "detail"), base::json_string(row, "cure"),
                      base::code_from_word(base::json_string(row, "reason"))});
  }
  return checks;
}

std::string to_text(const std::vector<Check>& checks, Color color) {
  std::string out;
  for (const Check& check : checks) {
    const bool colored = color == Color::kYes;
    out += (colored ? std::string(kColors[index(check.verdict)]) : std::string()) +
           std::string(kVerdicts[index(check.verdict)]) + (colored ? "\033[0m  " : "  ") +
           padded(check_word(check.id), 10) + base::printable(check.detail, kMaxTextLength) + "\n";
    if (!check.cure.empty()) {
      out += std::string(16, ' ') + "-> " + base::printable(check.cure, kMaxTextLength) + "\n";
    }
  }
  return out;
}

} // namespace jprof::checks
