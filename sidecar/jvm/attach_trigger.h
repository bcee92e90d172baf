// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/target.h"

#include <string>

namespace jprof::jvm {

// The file .attach_pid<N> that tells a JVM which gets SIGQUIT to open its attach socket rather than
// to print its threads. Made in the target's /tmp, or in its working directory where /tmp holds
// somebody else's; removed with the object, if we made it.
class AttachTrigger {
 public:
  // kAttachFailed, with the cause, where no such file can be made: the JVM could not make its
  // socket there either.
  static base::Result<AttachTrigger> create(const container::TargetRoot& root,
                                            const Target& target);
  AttachTrigger(AttachTrigger&&) = default;
  AttachTrigger& operator=(AttachTrigger&&) = delete;
  ~AttachTrigger();

 private:
  AttachTrigger(base::UniqueFd directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  base::UniqueFd directory_; // invalid where the file is not ours
  std::string name_;
};

} // namespace jprof::jvm
