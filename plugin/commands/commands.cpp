// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/commands/commands.h"

namespace jprof::plugin {

void add_commands(cli::Program& program) {
  add_record(program);
  add_fetch(program);
  add_list(program);
  add_doctor(program);
  add_diff(program);
  add_attach(program);
  add_gc(program);
  add_open(program);
  program.set_default_command("record");
}

} // namespace jprof::plugin
