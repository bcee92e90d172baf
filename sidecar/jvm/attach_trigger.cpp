// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_trigger.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using base::ErrorCode;
using base::UniqueFd;

enum class Made { kOurs, kThere, kNot };

// A JVM obeys a trigger that belongs to itself or to root (attachListener_posix.cpp). One that is
// already there may be another client's, or a leftover: either way it triggers.
bool usable(int directory, const std::string& name, uid_t jvm_uid) {
  struct stat entry {};
  return ::fstatat(directory, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(entry.st_mode) && (entry.st_uid == jvm_uid || entry.st_uid == 0);
}

// Old enough that no client still waits for it: nobody's, so we may remove it.
bool abandoned(int directory, const std::string& name) {
  constexpr time_t kSeconds = 60;
  struct stat entry {};
  return ::fstatat(directory, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::time(nullptr) - entry.st_mtime > kSeconds;
}

// errno is set for kNot.
Made make(int directory, const std::string& name, uid_t jvm_uid) {
  const UniqueFd file(::openat(directory, name.c_str(),
                               O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600));
  if (file) {
    return Made::kOurs;
  }
  if (errno == EEXIST && usable(directory, name, jvm_uid)) {
    return abandoned(directory, name) ? Made::kOurs : Made::kThere;
  }
  return Made::kNot;
}

base::Error refused(const Target& target, int os_errno) {
  std::string cause = std::string("its /tmp cannot be written (") + std::strerror(os_errno) + ")";
  std::string cure =
      "mount an emptyDir at /tmp of the JVM's container: a JVM makes its attach socket "
      "there, whatever java.io.tmpdir says";
  if (os_errno == EEXIST) {
    cause = "somebody planted its attach trigger";
    cure = "remove .attach_pid* from /tmp and the working directory of the JVM";
  } else if (os_errno == ENOSPC || os_errno == EDQUOT) {
    cure = "make room in the file system that holds /tmp";
  }
  return base::make_error(ErrorCode::kAttachFailed,
                          "cannot attach to " + target.name() + ": " + cause, cure);
}

} // namespace

base::Result<AttachTrigger> AttachTrigger::create(const container::TargetRoot& root,
                                                  const Target& target) {
  const std::string name = ".attach_pid" + std::to_string(target.innermost_pid());
  const uid_t uid = target.status.effective_uid;
  auto tmp = root.open_directory("/tmp");
  if (!tmp) {
    return base::make_failure(ErrorCode::kAttachFailed,
                              "cannot attach to " + target.name() + ": it has no directory /tmp",
                              "mount an emptyDir at /tmp of the JVM's container");
  }
  const Made in_tmp = make(tmp->get(), name, uid);
  if (in_tmp != Made::kNot) {
    return AttachTrigger(in_tmp == Made::kOurs ? std::move(*tmp) : UniqueFd(), name);
  }
  const int error = errno;
  if (error == EEXIST) {
    auto here = target.process.open_link("cwd");
    if (here && make(here->get(), name, uid) == Made::kOurs) {
      return AttachTrigger(std::move(*here), name);
    }
  }
  return base::fail(refused(target, error));
}

AttachTrigger::~AttachTrigger() {
  if (directory_) {
    ::unlinkat(directory_.get(), name_.c_str(), 0);
  }
}

} // namespace jprof::jvm
