// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/tool_interface.h"

#include "agent/arch/safe_load.h"

#include <cstddef>

namespace jprof::agent::jvm {
namespace {

using sampling::MethodFrame;

static_assert(sizeof(jvmtiFrameInfo) == sizeof(MethodFrame));
static_assert(offsetof(jvmtiFrameInfo, location) == offsetof(MethodFrame, bytecode_index));

// Makes the ids of a class's methods: the JVM creates them when they are first requested.
void make_ids(jvmtiEnv* jvmti, jclass type) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti->GetClassMethods(type, &count, &methods) == JVMTI_ERROR_NONE) {
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
  }
}

// AsyncGetCallTrace only checks whether somebody wants this event (prims/forte.cpp).
void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) {}

void JNICALL on_class_prepare(jvmtiEnv* jvmti, JNIEnv*, jthread, jclass type) {
  make_ids(jvmti, type);
}

} // namespace

const char* ToolInterface::open(JavaVM* vm) {
  vm_ = vm;
  JavaVMAttachArgs arguments{JNI_VERSION_1_6, const_cast<char*>("jprof"), nullptr};
  void* env = nullptr;
  if (vm == nullptr || vm->AttachCurrentThreadAsDaemon(&env, &arguments) != JNI_OK) {
    return "the JVM accepts no more threads";
  }
  env_ = static_cast<JNIEnv*>(env);
  void* jvmti = nullptr;
  if (vm->GetEnv(&jvmti, JVMTI_VERSION_1_1) != JNI_OK) {
    return "the JVM offers no JVMTI";
  }
  jvmti_ = static_cast<jvmtiEnv*>(jvmti);
  jclass thread = env_->FindClass("java/lang/Thread");
  java_thread_field_ = thread != nullptr ? env_->GetFieldID(thread, "eetop", "J") : nullptr;
  if (java_thread_field_ == nullptr) {
    env_->ExceptionClear();
    return "java.lang.Thread has no field eetop";
  }
  env_->DeleteLocalRef(thread);
  return nullptr;
}

const char* ToolInterface::make_method_ids() {
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassLoad = on_class_load;
  callbacks.ClassPrepare = on_class_prepare;
  has_events_ = true;
  if (jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr) !=
          JVMTI_ERROR_NONE ||
      jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, nullptr) !=
          JVMTI_ERROR_NONE) {
    return "the JVM provides no class events";
  }
  jint count = 0;
  jclass* classes = nullptr;
  if (env_->PushLocalFrame(kLocalReferences) != JNI_OK) {
    return "the JVM has no memory for references to its classes";
  }
  const jvmtiError error = jvmti_->GetLoadedClasses(&count, &classes);
  if (error == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) { // one that is not prepared yet fails; its event will come
      make_ids(jvmti_, classes[i]);
    }
    release(classes);
  }
  env_->PopLocalFrame(nullptr);
  return error == JVMTI_ERROR_NONE ? nullptr : "the JVM does not list its classes";
}

void ToolInterface::close() {
  if (jvmti_ != nullptr) {
    if (has_events_) {
      jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, nullptr);
      jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
    }
    jvmti_->DisposeEnvironment(); // a running callback keeps it alive (JvmtiEnvBase::dispose)
  }
  if (env_ != nullptr) {
    vm_->DetachCurrentThread();
  }
  *this = ToolInterface{};
}

std::int32_t ToolInterface::stack_of(jthread thread, MethodFrame* frames, std::uint32_t most) {
  jint count = 0;
  const jvmtiError error = jvmti_->GetStackTrace(thread, 0, static_cast<jint>(most),
                                                 reinterpret_cast<jvmtiFrameInfo*>(frames), &count);
  return error == JVMTI_ERROR_NONE ? count : -1;
}

const MethodFrame* ToolInterface::as_frames(const jvmtiFrameInfo* frames) {
  return reinterpret_cast<const MethodFrame*>(frames);
}

// 0 for a thread that has ended. Its JavaThread may go away at any time, hence protected loads.
std::int32_t ToolInterface::kernel_id(const sampling::VmLayout& layout, jthread thread) {
  const auto java_thread =
      static_cast<std::uint64_t>(env_->GetLongField(thread, java_thread_field_));
  if (java_thread == 0) {
    return 0;
  }
  const std::uint64_t os_thread =
      arch::word_at(java_thread + static_cast<std::uint64_t>(layout.thread.os_thread));
  std::uint32_t tid = 0;
  return arch::load(os_thread + static_cast<std::uint64_t>(layout.thread.os_thread_id), &tid)
             ? static_cast<std::int32_t>(tid)
             : 0;
}

void ToolInterface::release(void* memory) {
  jvmti_->Deallocate(static_cast<unsigned char*>(memory));
}

} // namespace jprof::agent::jvm
