// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/caller_places.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <new>
#include <sys/mman.h>

namespace jprof::serve {
namespace {

constexpr std::chrono::seconds kPatience{2};

} // namespace

std::uint64_t idle_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

CallerPlaces::CallerPlaces() {
  static_assert(IdleSince::is_always_lock_free);
  void* const memory = ::mmap(nullptr, sizeof(IdleSince) * kMaxConnections, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) { // for as long as the process lives
    idle_ = new (memory) IdleSince[kMaxConnections];
  }
}

IdleSince* CallerPlaces::offer() {
  const auto* const free = std::ranges::find(children_, 0);
  offered_ = static_cast<std::size_t>(free - children_.begin());
  if (idle_ == nullptr || offered_ == children_.size()) {
    offered_ = children_.size();
    return nullptr;
  }
  idle_[offered_] = idle_clock(); // until its first request
  return &idle_[offered_];
}

void CallerPlaces::take(pid_t child) {
  if (offered_ < children_.size()) {
    children_[offered_] = child;
  }
}

void CallerPlaces::leave(pid_t child) {
  for (pid_t& one : children_) {
    if (one == child) {
      one = 0;
      awaited_.reset();
    }
  }
}

bool CallerPlaces::make_room() {
  const bool waited_for_nothing = awaited_ && awaited_->expired();
  awaited_.reset();
  pid_t oldest = 0;
  std::uint64_t idle_since = UINT64_MAX;
  for (std::size_t i = 0; idle_ != nullptr && i < children_.size(); ++i) {
    const std::uint64_t since = idle_[i];
    if (children_[i] != 0 && since != 0 && since < idle_since) {
      oldest = children_[i];
      idle_since = since;
    }
  }
  if (oldest == 0 || waited_for_nothing || ::kill(oldest, SIGUSR1) != 0) {
    return false;
  }
  awaited_ = base::Deadline::after(kPatience);
  return true;
}

std::optional<base::Deadline> CallerPlaces::awaited() const {
  return awaited_ && !awaited_->expired() ? awaited_ : std::nullopt;
}

} // namespace jprof::serve
