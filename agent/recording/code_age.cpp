// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/code_age.h"

#include "agent/jvm/compiled_code.h"
#include "agent/sampling/shared_memory.h"

#include <cstdint>

namespace jprof::agent::recording {
namespace {

using sampling::OldCode;

// Code compiled while a session had the flag on. Code much older than that of the last such session
// is forgotten and counts as old.
sampling::RecentIds g_detailed;

void add_without_detail(std::uint32_t id, void* old) {
  if (!g_detailed.has(id)) {
    static_cast<OldCode*>(old)->add(id);
  }
}

void add_with_detail(std::uint32_t id, void* old) {
  if (!static_cast<OldCode*>(old)->holds(id)) {
    g_detailed.add(id);
  }
}

} // namespace

void note_code_age(sampling::Sampler& sampler, jvm::InliningDetail::Found found) {
  using Found = jvm::InliningDetail::Found;
  wire::InliningDetail detail = wire::InliningDetail::kUnknown;
  // The JVM's own walkers ignore the age of code.
  const bool ours = sampler.call_trace == nullptr && sampler.waiting == nullptr;
  if (found == Found::kOn) {
    detail = wire::InliningDetail::kBefore;
  } else if (found == Found::kOff &&
             jvm::visit_compile_ids(sampler.vm, add_without_detail, &sampler.old_code) && ours) {
    detail = wire::InliningDetail::kSinceStart;
  }
  sampler.old_code.publish();
  sampling::store_relaxed(sampling::counter(sampler, wire::Counter::kInliningDetail),
                          static_cast<std::uint64_t>(detail));
}

void keep_code_age(sampling::Sampler& sampler, wire::StopReason reason) {
  if (reason != wire::StopReason::kVmExit) {
    jvm::visit_compile_ids(sampler.vm, add_with_detail, &sampler.old_code);
  }
}

} // namespace jprof::agent::recording
