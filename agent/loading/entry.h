// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jprof::agent {

// Begins the session that `options` ask for, in this copy of the library. The calling thread is a
// Java thread with this JNIEnv. Returns one of the codes of lib/wire/agent_options.h.
int begin_from_options(const char* options, void* jni_env);
// The same, called by a later copy that is about to be unloaded.
int begin_for_other_copy(const char* options, void* jni_env);

} // namespace jprof::agent
