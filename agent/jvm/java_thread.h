// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a signal handler finds the JavaThread that it interrupted: HotSpot 8 to 25 keeps the current
// Thread in a pthread key. We find the key on the attach listener's thread, which is a Java thread.

#include <cstdint>

namespace jprof::agent::jvm {

struct JavaThreadKey {
  std::uint32_t key = 0;
  std::int32_t env_offset = -1; // of the JNIEnv in a JavaThread
  std::uint64_t jni_functions = 0;
};

// REQUIRES: the caller's thread is a Java thread with this JNIEnv. False if no key holds the
// JavaThread that contains it.
bool find_java_thread_key(const void* jni_env, JavaThreadKey* key);

} // namespace jprof::agent::jvm
