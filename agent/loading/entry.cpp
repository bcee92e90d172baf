// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/loading/entry.h"

#include "agent/loading/resident.h"
#include "agent/session/session.h"
#include "lib/wire/agent_options.h"

#include <jni.h>

namespace {

constexpr std::uint64_t kExitTimeoutNs = 100'000'000;

using namespace jprof; // NOLINT(google-build-using-namespace): the C entry points of a library

int attach(JavaVM* vm, const char* options) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) {
    return wire::kLoadNoResources;
  }
  if (const agent::Resident* other = agent::find_other_resident(); other != nullptr) {
    const int result = other->begin(options, env);
    return result == wire::kLoadOk ? wire::kLoadHandedOver : result;
  }
  if (!agent::is_resident() && !agent::become_resident()) {
    return wire::kLoadNoResources;
  }
  return agent::begin_from_options(options, env);
}

} // namespace

namespace jprof::agent {
namespace {

int begin(const char* options, void* jni_env, bool for_other_copy) {
  SessionRequest request;
  request.for_other_copy = for_other_copy;
  if (!parse_options(options, &request.options)) {
    return wire::kLoadBadOptions;
  }
  if (!request.options.has_session) {
    return wire::kLoadOk; // idle until a later load names a socket
  }
  jvm::find_java_thread_key(jni_env, &request.java_thread_key);
  static_cast<JNIEnv*>(jni_env)->GetJavaVM(&request.java_vm);
  return begin_session(request) == 0 ? wire::kLoadOk : wire::kLoadNoResources;
}

} // namespace

int begin_from_options(const char* options, void* jni_env) {
  return begin(options, jni_env, false);
}

int begin_for_other_copy(const char* options, void* jni_env) {
  return begin(options, jni_env, true);
}

} // namespace jprof::agent

// A load at the JVM's start stays idle: no thread, no descriptor, no handler.
extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM*, char*, void*) {
  if (agent::find_other_resident() == nullptr) {
    agent::become_resident();
  }
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return attach(vm, options);
}

extern "C" JNIEXPORT void JNICALL Agent_OnUnload(JavaVM*) {
  agent::end_session_for_exit(kExitTimeoutNs);
}
