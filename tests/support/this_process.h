// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/container/process.h"
#include "sidecar/jvm/target.h"

#include <unistd.h>
#include <utility>

namespace jprof::testing {

// This process, which plays the JVM that is attached to.
inline jvm::Target this_process(container::LoadedVm vm = {}) {
  const auto proc = container::ProcRoot::open();
  auto process = container::Process::open(*proc, ::getpid());
  auto status = process->status();
  return {std::move(*process), std::move(*status), std::move(vm)};
}

} // namespace jprof::testing
