// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/jvm/inlining_detail.h"
#include "agent/sampling/sampler.h"
#include "lib/wire/region.h"

namespace jprof::agent::recording {

// Tells handlers which code was compiled without the flag, given the value that the flag was found
// to have, and the reader how reliable this is (Counter::kInliningDetail). Call it once per
// session: until then all code is old. Code installed in between counts as compiled before.
void note_code_age(sampling::Sampler& sampler, jvm::InliningDetail::Found found);

// Remembers which code was compiled with the flag, for later sessions in this JVM; does nothing if
// the JVM is ending. Call it once the flag is restored, while loads are protected. Call both on the
// agent's thread.
void keep_code_age(sampling::Sampler& sampler, wire::StopReason reason);

} // namespace jprof::agent::recording
