// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/checks/check.h"
#include "sidecar/jvm/target.h"
#include "sidecar/serve/serve_context.h"

#include <vector>

// What serve would answer somebody who wants to record now, for `doctor`: found by the code that
// answers.
namespace jprof::serve {

// Whether it is free: no other capture of this JVM, and a place for one more.
checks::Check check_free(const ServeContext& context, const jvm::Target& target);
// For every capture: room in the spool, captures within this hour, a usable configuration; and
// whether somebody changed serve's limits.
std::vector<checks::Check> check_serve(const ServeContext& context);

} // namespace jprof::serve
