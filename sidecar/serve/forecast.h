// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/checks/check.h"
#include "sidecar/jvm/target.h"
#include "sidecar/serve/serve_context.h"

#include <vector>

// What serve would say to who wants to record now, for `doctor`: found by the code that says it.
namespace jprof::serve {

// Is it free: no other capture of this JVM, and a place for one more.
checks::Check check_free(const ServeContext& context, const jvm::Target& target);
// Of every capture: room in the spool, captures of this hour, a usable configuration; and whether
// somebody changed the limits of serve.
std::vector<checks::Check> check_serve(const ServeContext& context);

} // namespace jprof::serve
