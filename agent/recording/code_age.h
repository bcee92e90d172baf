// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/jvm/inlining_detail.h"
#include "agent/sampling/sampler.h"
#include "lib/wire/region.h"

namespace jprof::agent::recording {

// Has handlers know from now on which code was compiled without the flag, by what that was found to
// be, and the reader what this is worth (Counter::kInliningDetail). Once in a session: until then
// all code is old. What is installed in the moment between counts as compiled before.
void note_code_age(sampling::Sampler& sampler, jvm::InliningDetail::Found found);

// Remembers what was compiled with the flag, for the sessions to come in this JVM; nothing in one
// that ends. Once the flag is restored, while loads are protected. Both on the agent's thread.
void keep_code_age(sampling::Sampler& sampler, wire::StopReason reason);

} // namespace jprof::agent::recording
