// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/commands.h"

#include "sidecar/commands/attach.h"
#include "sidecar/commands/convert.h"
#include "sidecar/commands/diff.h"
#include "sidecar/commands/doctor.h"
#include "sidecar/commands/flame.h"
#include "sidecar/commands/list.h"
#include "sidecar/commands/record.h"
#include "sidecar/commands/serve.h"
#include "sidecar/commands/session.h"
#include "sidecar/commands/spool.h"
#include "sidecar/commands/verify.h"

namespace jprof::sidecar {

void add_commands(cli::Program& program) {
  add_record(program);
  add_convert(program);
  add_diff(program);
  add_flame(program);
  add_list(program);
  add_doctor(program);
  add_attach(program);
  add_serve(program);
  add_session(program);
  add_spool(program);
  add_verify(program);
}

} // namespace jprof::sidecar
