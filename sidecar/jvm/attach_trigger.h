// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/target.h"

#include <string>

namespace jprof::jvm {

// The file .attach_pid<N> that tells a JVM which gets SIGQUIT to open its attach socket instead of
// printing its threads. Created in the target's /tmp, or in its working directory if /tmp holds
// somebody else's; removed with the object, if we created it.
class AttachTrigger {
 public:
  // kAttachFailed, with the cause, if no such file can be created: the JVM could not create its
  // socket there either.
  static base::Result<AttachTrigger> create(const container::TargetRoot& root,
                                            const Target& target);
  AttachTrigger(AttachTrigger&&) = default;
  AttachTrigger& operator=(AttachTrigger&&) = delete;
  ~AttachTrigger();

 private:
  AttachTrigger(base::UniqueFd directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  base::UniqueFd directory_; // invalid if the file is not ours
  std::string name_;
};

} // namespace jprof::jvm
