// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/safepoint_stacks.h"

#include "agent/sampling/shared_memory.h"

namespace jprof::agent::recording {
namespace {

using sampling::FoundStack;
using sampling::MethodFrame;
using sampling::ThreadEntry;
using wire::ErrorFrame;

// GetStackTrace writes here, because the agent's thread has a small stack.
MethodFrame g_frames[sampling::kMaxScratchDepth];

FoundStack found_in(const MethodFrame* frames, std::uint32_t depth, std::uint32_t most) {
  return {.frames = frames,
          .depth = depth,
          .truncated = depth == most,
          .error = ErrorFrame::kNoJavaFrames};
}

} // namespace

void SafepointStacks::begin(sampling::Sampler* sampler, const PrivateTables& tables,
                            jvm::ToolInterface* tools, wire::Walker walker) {
  *this = SafepointStacks{};
  sampler_ = sampler;
  tools_ = tools;
  walker_ = walker;
  sampler->waiting = tables.waiting;
}

void SafepointStacks::tick() {
  if (sampler_->stacks_wanted.exchange(0, std::memory_order_relaxed) == 0 || collect() == 0) {
    return;
  }
  const std::uint32_t most = sampling::load_relaxed(sampler_->max_depth);
  ThreadEntry* entry = nullptr;
  if (walker_ == wire::Walker::kJmx) {
    tools_->visit_stacks(sampler_->vm, most,
                         [&](std::int32_t tid, const MethodFrame* frames, std::uint32_t depth) {
                           if (take(tid, &entry)) {
                             record_waiting(*sampler_, *entry, found_in(frames, depth, most));
                           }
                         });
  } else {
    tools_->visit_threads(sampler_->vm, [&](jthread thread, std::int32_t tid) {
      if (take(tid, &entry)) {
        const std::int32_t depth = tools_->stack_of(thread, g_frames, most);
        record_waiting(*sampler_, *entry,
                       depth < 0 ? FoundStack{.error = ErrorFrame::kThreadExiting}
                                 : found_in(g_frames, static_cast<std::uint32_t>(depth), most));
      }
    });
  }
  // The JVM does not know these as Java threads: its own threads, and those that have ended.
  for (std::uint32_t i = 0; i < count_; ++i) {
    record_waiting(*sampler_, sampler_->threads[waiting_[i]],
                   FoundStack{.error = ErrorFrame::kNoJavaFrames});
  }
  count_ = 0;
}

void SafepointStacks::finish() {
  while (collect() != 0) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      record_waiting(*sampler_, sampler_->threads[waiting_[i]],
                     FoundStack{.error = ErrorFrame::kUnsafeState});
    }
  }
  sampler_->waiting = nullptr;
  sampler_ = nullptr;
}

std::uint32_t SafepointStacks::collect() {
  count_ = 0;
  for (std::uint32_t slot = 0; slot < sampler_->thread_capacity; ++slot) {
    if (sampling::load_relaxed(sampler_->waiting[slot].signals) == 0) {
      continue;
    }
    if (count_ == kMax) {
      sampler_->stacks_wanted.store(1, std::memory_order_relaxed);
      break;
    }
    waiting_[count_++] = slot;
  }
  return count_;
}

// True if this thread's time is waiting. Removes the thread from the list.
bool SafepointStacks::take(std::int32_t tid, ThreadEntry** entry) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (sampler_->threads[waiting_[i]].tid == tid) {
      *entry = &sampler_->threads[waiting_[i]];
      waiting_[i] = waiting_[--count_];
      return true;
    }
  }
  return false;
}

} // namespace jprof::agent::recording
