// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/jvm/attach_protocol.h"

#include <string>
#include <vector>

namespace jprof::jvm {

// A command as users type it (jattach's words and arguments), and how its answer is judged.
struct Diagnostic {
  AttachCommand command;
  // The result number does not tell: for printflag of an unknown flag, and for load, it is 0 on
  // failure.
  bool judged_by_text = false;
  bool java_agent = false; // load instrument: the numbers 100, 101, 102 have a meaning
  std::string note;        // for the user, when it succeeded: where the text went
};

// kUsage for an unknown command or a missing argument.
base::Result<Diagnostic> make_diagnostic(const std::string& name,
                                         const std::vector<std::string>& arguments);

// Success, or kAttachFailed, kAgentFailed, kAgentLoadingDisabled with the JVM's own words.
base::Status judge(const Diagnostic& diagnostic, const AttachReply& reply);

} // namespace jprof::jvm
