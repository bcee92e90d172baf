// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/cli/program.h"
#include "plugin/cluster/pod_access.h"

#include <cstdint>
#include <optional>
#include <string>

namespace jprof::plugin {

// The flags behind PodAccessOptions, as they were typed.
struct PodAccessFlags {
  std::string ephemeral; // auto, never, always; empty: the command's default
  std::string image;     // empty: JPROF_IMAGE, else the one that this release was built with
  std::string pull_policy = "IfNotPresent";
  std::optional<std::int64_t> uid{};
  std::optional<std::int64_t> gid{};
  std::string capability{};
  bool force = false;
  bool explain = false;
};

// `flags` must live as long as the command.
void add_pod_access_options(cli::Command command, PodAccessFlags& flags);

// A scheduled run adds nothing to pods unless told to: each time, a record would stay. kUsage.
base::Result<PodAccessOptions> pod_access_options(const PodAccessFlags& flags, bool scheduled);

} // namespace jprof::plugin
