// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace jprof::base {
namespace {

struct Row {
  ErrorCode code;
  std::string_view word;
  int exit;
};

constexpr Row kRows[] = {
    {ErrorCode::kUsage, "Usage", 2},
    {ErrorCode::kConfigInvalid, "ConfigInvalid", 2},
    {ErrorCode::kInvalidData, "InvalidData", 2},
    {ErrorCode::kTargetNotFound, "TargetNotFound", 3},
    {ErrorCode::kNotAJvm, "NotAJvm", 3},
    {ErrorCode::kSeveralTargets, "SeveralTargets", 3},
    {ErrorCode::kTargetGone, "TargetGone", 3},
    {ErrorCode::kNoSidecar, "NoSidecar", 3},
    {ErrorCode::kPermission, "PermissionDenied", 4},
    {ErrorCode::kIdentityMismatch, "IdentityMismatch", 4},
    {ErrorCode::kForbidden, "Forbidden", 4},
    {ErrorCode::kUnauthenticated, "Unauthenticated", 4},
    {ErrorCode::kNotAllowed, "NotAllowed", 4},
    {ErrorCode::kAttachDisabled, "AttachDisabled", 5},
    {ErrorCode::kAgentLoadingDisabled, "AgentLoadingDisabled", 5},
    {ErrorCode::kAgentFailed, "AgentFailed", 5},
    {ErrorCode::kJvmUnsupported, "JvmUnsupported", 5},
    {ErrorCode::kNoPlaceForAgent, "NoPlaceForAgent", 5},
    {ErrorCode::kAttachFailed, "AttachFailed", 5},
    {ErrorCode::kPartialCapture, "PartialCapture", 6},
    {ErrorCode::kNotStored, "NotStored", 7},
    {ErrorCode::kIo, "IoError", 7},
    {ErrorCode::kNotFound, "NotFound", 8},
    {ErrorCode::kAlreadyExists, "AlreadyExists", 8},
    {ErrorCode::kUnavailable, "Unavailable", 8},
    {ErrorCode::kTimeout, "Timeout", 8},
    {ErrorCode::kProtocol, "ProtocolError", 8},
    {ErrorCode::kBusy, "Busy", 9},
    {ErrorCode::kLimit, "LimitReached", 9},
    {ErrorCode::kInterrupted, "Interrupted", 130},
    {ErrorCode::kInternal, "Internal", 70},
};

const Row& row_of(ErrorCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) {
      return row;
    }
  }
  return kRows[std::size(kRows) - 1];
}

ErrorCode code_from_errno(int os_errno) {
  switch (os_errno) {
  case EACCES:
  case EPERM:
    return ErrorCode::kPermission;
  case ENOENT:
    return ErrorCode::kNotFound;
  case ESRCH:
    return ErrorCode::kTargetGone;
  case ETIMEDOUT:
    return ErrorCode::kTimeout;
  case EEXIST:
    return ErrorCode::kAlreadyExists;
  case EMFILE:
  case ENFILE:
    return ErrorCode::kLimit;
  default:
    return ErrorCode::kIo;
  }
}

// Of what has the same cure wherever it happens.
std::string cure_from_errno(int os_errno) {
  switch (os_errno) {
  case EMFILE:
    return "raise this program's limit on open files (ulimit -n)";
  case ENFILE:
    return "raise the node's limit on open files (fs.file-max)";
  case EFBIG:
    return "raise this program's limit on the size of files (ulimit -f)";
  default:
    return {};
  }
}

} // namespace

std::string_view reason_word(ErrorCode code) {
  return row_of(code).word;
}

int exit_code(ErrorCode code) {
  return row_of(code).exit;
}

ErrorCode code_from_word(std::string_view word) {
  for (const Row& row : kRows) {
    if (row.word == word) {
      return row.code;
    }
  }
  return ErrorCode::kInternal;
}

Error Error::with_context(std::string_view context) && {
  message = std::string(context) + ": " + message;
  return std::move(*this);
}

Error Error::with_cure(std::string_view text) && {
  cure = text;
  return std::move(*this);
}

std::string Error::text() const {
  return cure.empty() ? message : message + " (" + cure + ")";
}

Error make_error(ErrorCode code, std::string message, std::string cure) {
  return Error{code, std::move(message), std::move(cure), 0};
}

Error errno_error(int os_errno, std::string message) {
  message += ": ";
  message += std::generic_category().message(os_errno);
  return Error{code_from_errno(os_errno), std::move(message), cure_from_errno(os_errno), os_errno};
}

} // namespace jprof::base
