// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/commands.h"

#include "sidecar/commands/attach.h"
#include "sidecar/commands/compare.h"
#include "sidecar/commands/convert.h"
#include "sidecar/commands/diff.h"
#include "sidecar/commands/doctor.h"
#include "sidecar/commands/flame.h"
#include "sidecar/commands/list.h"
#include "sidecar/commands/open.h"
#include "sidecar/commands/record.h"
#include "sidecar/commands/serve.h"
#include "sidecar/commands/session.h"
#include "sidecar/commands/spool.h"
#include "sidecar/commands/verify.h"

#include <algorithm>
#include <array>

namespace jprof::sidecar {

namespace {

struct Command {
  std::string_view name;
  void (*add)(cli::Program&);
};

constexpr std::array kCommands = {
    Command{"record", add_record}, Command{"convert", add_convert}, Command{"diff", add_diff},
    Command{"flame", add_flame},   Command{"list", add_list},       Command{"doctor", add_doctor},
    Command{"attach", add_attach}, Command{"serve", add_serve},     Command{"session", add_session},
    Command{"spool", add_spool},   Command{"verify", add_verify},   Command{"compare", add_compare},
    Command{"open", add_open},
};

} // namespace

void add_commands(cli::Program& program, std::string_view first_word) {
  const auto* const named =
      std::find_if(kCommands.begin(), kCommands.end(),
                   [first_word](const Command& command) { return command.name == first_word; });
  if (named != kCommands.end()) {
    named->add(program);
    return;
  }
  for (const Command& command : kCommands) {
    command.add(program);
  }
}

} // namespace jprof::sidecar
