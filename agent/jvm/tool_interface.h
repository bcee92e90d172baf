// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// JVMTI, for the walkers that need it. Our own walker never opens it: the calling thread becomes a
// (daemon) Java thread, and for AsyncGetCallTrace every method of every class gets an id, about 2
// KB per class, which the JVM keeps as long as the class lives. Environment, events and the Java
// thread are gone after close(). One thread, with SIGSEGV and SIGBUS unblocked.

#include "agent/sampling/method_frames.h"
#include "agent/sampling/vm_layout.h"

#include <jvmti.h>

#include <cstdint>

namespace jprof::agent::jvm {

class ToolInterface {
 public:
  // Null, or what went wrong. After a failure, close() undoes what was done.
  const char* open(JavaVM* vm);
  // Gives every method an id, including those of classes that are loaded later, and turns on the
  // events without which AsyncGetCallTrace refuses to work. Null, or what went wrong.
  const char* make_method_ids();
  void close();

  // Calls visit(thread, tid, context) for each live platform thread of the JVM whose kernel id can
  // be read, in a frame of local references of its own.
  template <typename Visit>
  void visit_threads(const sampling::VmLayout& layout, Visit&& visit) {
    jint count = 0;
    jthread* threads = nullptr;
    if (env_->PushLocalFrame(kLocalReferences) != JNI_OK) {
      return;
    }
    if (jvmti_->GetAllThreads(&count, &threads) == JVMTI_ERROR_NONE) {
      for (jint i = 0; i < count; ++i) {
        if (const std::int32_t tid = kernel_id(layout, threads[i]); tid != 0) {
          visit(threads[i], tid);
        }
      }
      release(threads);
    }
    env_->PopLocalFrame(nullptr);
  }

  // JVMTI GetStackTrace: the number of frames, below 0 if the JVM gave none.
  std::int32_t stack_of(jthread thread, sampling::MethodFrame* frames, std::uint32_t most);

  // JVMTI GetAllStackTraces: calls visit(tid, frames, depth) for each thread. One VM operation
  // stops all threads for it, as ThreadMXBean.dumpAllThreads does.
  template <typename Visit>
  void visit_stacks(const sampling::VmLayout& layout, std::uint32_t most, Visit&& visit) {
    jint count = 0;
    jvmtiStackInfo* stacks = nullptr;
    if (env_->PushLocalFrame(kLocalReferences) != JNI_OK) {
      return;
    }
    if (jvmti_->GetAllStackTraces(static_cast<jint>(most), &stacks, &count) == JVMTI_ERROR_NONE) {
      for (jint i = 0; i < count; ++i) {
        if (const std::int32_t tid = kernel_id(layout, stacks[i].thread); tid != 0) {
          visit(tid, as_frames(stacks[i].frame_buffer),
                static_cast<std::uint32_t>(stacks[i].frame_count));
        }
      }
      release(stacks);
    }
    env_->PopLocalFrame(nullptr);
  }

 private:
  static constexpr jint kLocalReferences = 16; // a hint: HotSpot lets a frame grow
  static const sampling::MethodFrame* as_frames(const jvmtiFrameInfo* frames);
  std::int32_t kernel_id(const sampling::VmLayout& layout, jthread thread);
  void release(void* memory);

  JavaVM* vm_ = nullptr;
  JNIEnv* env_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  jfieldID java_thread_field_ = nullptr; // java.lang.Thread.eetop: the address of the JavaThread
  bool has_events_ = false;
};

} // namespace jprof::agent::jvm
