// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/thread_index.h"

namespace jprof::agent::recording {
namespace {

constexpr std::uint32_t kRemoved = 0xffffffff; // an entry whose thread has ended

std::uint32_t hash(std::int32_t tid) {
  return static_cast<std::uint32_t>(tid) * 0x9e3779b1U;
}

} // namespace

bool ThreadIndex::find_place(std::int32_t tid, std::uint32_t* place) const {
  const std::uint32_t at = hash(tid);
  for (std::uint32_t probe = 0; probe <= mask_; ++probe) {
    const std::uint32_t entry = slots_[(at + probe) & mask_];
    if (entry == 0) {
      return false;
    }
    if (entry != kRemoved && entries_[entry - 1].tid == tid) {
      *place = (at + probe) & mask_;
      return true;
    }
  }
  return false;
}

bool ThreadIndex::find(std::int32_t tid, std::uint32_t* slot) const {
  std::uint32_t place = 0;
  if (!find_place(tid, &place)) {
    return false;
  }
  *slot = slots_[place] - 1;
  return true;
}

void ThreadIndex::insert(std::int32_t tid, std::uint32_t slot) {
  std::uint32_t at = hash(tid);
  while (slots_[at & mask_] != 0 && slots_[at & mask_] != kRemoved) {
    ++at;
  }
  slots_[at & mask_] = slot + 1;
}

void ThreadIndex::remove(std::int32_t tid) {
  std::uint32_t place = 0;
  if (find_place(tid, &place)) {
    slots_[place] = kRemoved;
    ++garbage_;
  }
}

void ThreadIndex::tidy(std::uint32_t used) {
  if (garbage_ <= mask_ / 4) {
    return;
  }
  __builtin_memset(slots_, 0, (std::size_t{mask_} + 1) * sizeof(std::uint32_t));
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    if (entries_[slot].tid != 0) {
      insert(entries_[slot].tid, slot);
    }
  }
  garbage_ = 0;
}

} // namespace jprof::agent::recording
