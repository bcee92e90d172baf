// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

// What `jprof doctor` and `kubectl jprof doctor` check: one table of questions, one form of answer.
namespace jprof::checks {

// The table's rows, in the order in which they are asked and shown (check.cpp). The first group is
// about the cluster and asked by the plugin, the second is about the pod and asked where jprof runs
// in it, the last three are about its `jprof serve`.
enum class CheckId {
  kClusterReachable,
  kPodRunning,
  kExecAllowed,
  kSidecarThere,
  kEphemeral,
  kPodSpec,
  kSidecarVersion,
  kProcess,
  kJvm,
  kAccess,
  kAttach,
  kTmp,
  kAgents,
  kPlace,
  kOtherProfiler,
  kTimers,
  kMemory,
  kNotice,
  kInlining,
  kSelf,
  kSandbox,
  kFree,
  kRoom,
  kLimits,
};

// kSkip: could not be asked, because an earlier answer stands in the way.
enum class Verdict { kPass, kWarn, kFail, kSkip };

struct Check {
  CheckId id = CheckId::kProcess;
  Verdict verdict = Verdict::kSkip;
  std::string detail; // what was found, one sentence without a full stop
  std::string cure;   // one sentence; empty for kPass and kSkip
  base::ErrorCode code = base::ErrorCode::kInternal; // of a kFail: what a capture would end with
};

// The stable word of a row ("agents") and its question ("may agents be loaded?").
std::string_view check_word(CheckId id);
std::string_view check_question(CheckId id);

Check pass(CheckId id, std::string detail);
Check warn(CheckId id, std::string detail, std::string cure);
Check fail(CheckId id, const base::Error& error);
Check skip(CheckId id, std::string detail);

// The exit code of the first kFail, 0 if there is none.
int exit_code(const std::vector<Check>& checks);

// [{"check", "verdict", "detail", "cure", "reason"}]; and back, ignoring rows of a newer peer.
base::Json to_json(const std::vector<Check>& checks);
base::Result<std::vector<Check>> from_json(const base::Json& rows);
// One line for each check, a second one for its cure; every byte safe for a terminal.
enum class Color { kNo, kYes };
std::string to_text(const std::vector<Check>& checks, Color color);

} // namespace jprof::checks
