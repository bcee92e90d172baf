// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::base {

// Why something failed. One table (error.cpp) gives each code its stable word, printed as `reason`
// with --json, and its exit code (ARCHITECTURE.md, "Exit codes"). Add a row rather than bend one.
enum class ErrorCode {
  kUsage,                // exit 2: the command line
  kConfigInvalid,        // exit 2: a configuration file, kubeconfig or environment value
  kInvalidData,          // exit 2: an input file is damaged or not what it should be
  kTargetNotFound,       // exit 3: no such process, pod or container
  kNotAJvm,              // exit 3
  kSeveralTargets,       // exit 3: the choice is the caller's
  kTargetGone,           // exit 3: it ended before anything was captured
  kNoSidecar,            // exit 3: the pod has no jprof container
  kPermission,           // exit 4: the operating system says no
  kIdentityMismatch,     // exit 4: other uid, gid, capabilities, or not dumpable
  kForbidden,            // exit 4: Kubernetes RBAC or an admission policy says no
  kUnauthenticated,      // exit 4: the cluster does not know who we are
  kNotAllowed,           // exit 4: the sidecar's own `allow:` says no
  kAttachDisabled,       // exit 5
  kAgentLoadingDisabled, // exit 5
  kAgentFailed,          // exit 5: the agent was loaded and reported an error
  kJvmUnsupported,       // exit 5
  kNoPlaceForAgent,      // exit 5: no writable, executable directory in the target
  kAttachFailed,         // exit 5: the JVM did not answer, or refused
  kPartialCapture,       // exit 6: what was recorded until then is kept
  kNotStored,            // exit 7: captured and kept, but not where it was asked
  kIo,                   // exit 7: a local file or disk
  kNotFound,             // exit 8: a remote object
  kAlreadyExists,        // exit 8: create-only write of something that is there
  kUnavailable,          // exit 8: cluster, store or network, try again
  kTimeout,              // exit 8
  kProtocol,             // exit 8: the other side speaks nonsense
  kBusy,                 // exit 9: another capture is running
  kLimit,                // exit 9: a configured or built-in limit
  kInterrupted,          // exit 130: nothing kept
  kInternal,             // exit 70: a bug of ours
};

// The stable word of a code, e.g. "TargetNotFound".
std::string_view reason_word(ErrorCode code);
// The process exit code of a code (2..9, 70, 130).
int exit_code(ErrorCode code);
// The code with this word, or kInternal where no row has it (a newer peer's word).
ErrorCode code_from_word(std::string_view word);

// A failure: what happened, to what, and what the user can do about it. Messages are lower case,
// name the object and end without a full stop: `cannot open /proc/42/maps: permission denied`.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string cure; // one sentence, may be empty
  int os_errno = 0; // 0 where no system call failed

  // Prefixes the message with what was being done; each layer adds at most one.
  Error with_context(std::string_view context) &&;
  Error with_cure(std::string_view text) &&;
  // "message (cure)", for logs.
  std::string text() const;
};

Error make_error(ErrorCode code, std::string message, std::string cure = {});
// For a failed system call: "`message`: <strerror>", code from errno (EACCES and EPERM are
// kPermission, ENOENT kNotFound, ESRCH kTargetGone, ETIMEDOUT kTimeout, EEXIST kAlreadyExists,
// EMFILE and ENFILE kLimit with their cure, the rest kIo).
Error errno_error(int os_errno, std::string message);

} // namespace jprof::base
