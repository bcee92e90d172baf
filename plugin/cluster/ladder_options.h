// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/cli/program.h"
#include "plugin/cluster/access_ladder.h"

#include <cstdint>
#include <optional>
#include <string>

namespace jprof::plugin {

// The flags behind LadderOptions, as they were typed.
struct LadderFlags {
  std::string ephemeral; // auto, never, always; empty: the default of the occasion
  std::string image;     // empty: JPROF_IMAGE, else the one that this release was built with
  std::string pull_policy = "IfNotPresent";
  std::optional<std::int64_t> uid{};
  std::optional<std::int64_t> gid{};
  std::string capability{};
  bool force = false;
  bool explain = false;
};

// `flags` must live as long as the command.
void add_ladder_options(cli::Command command, LadderFlags& flags);

// A scheduled run adds nothing to pods unless it is told to: each time a record would stay. kUsage.
base::Result<LadderOptions> ladder_options(const LadderFlags& flags, bool scheduled);

} // namespace jprof::plugin
