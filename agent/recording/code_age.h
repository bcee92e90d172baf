// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/jvm/inlining_detail.h"
#include "agent/sampling/sampler.h"
#include "lib/wire/region.h"

namespace jprof::agent::recording {

// From now on handlers know which code was compiled without the flag, depending on what the flag
// was found to be, and the reader knows how reliable this is (Counter::kInliningDetail). Once per
// session: until then all code is old. Code installed in between counts as compiled before.
void note_code_age(sampling::Sampler& sampler, jvm::InliningDetail::Found found);

// Remembers what was compiled with the flag, for later sessions in this JVM; nothing if the JVM is
// ending. Call it once the flag is restored, while loads are protected. Both on the agent's thread.
void keep_code_age(sampling::Sampler& sampler, wire::StopReason reason);

} // namespace jprof::agent::recording
