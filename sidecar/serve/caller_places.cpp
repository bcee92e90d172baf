// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/caller_places.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <sys/mman.h>

namespace jprof::serve {
namespace {

constexpr std::chrono::seconds kPatience{2};

} // namespace

CallerPlaces::CallerPlaces() {
  static_assert(Asked::is_always_lock_free);
  void* const memory = ::mmap(nullptr, sizeof(Asked) * kMaxConnections, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) { // for as long as the process lives
    asked_ = new (memory) Asked[kMaxConnections];
  }
}

CallerPlaces::Asked* CallerPlaces::offer() {
  const auto* const free =
      std::ranges::find_if(places_, [](const Place& place) { return place.child == 0; });
  offered_ = static_cast<std::size_t>(free - places_.begin());
  if (asked_ == nullptr || offered_ == places_.size()) {
    offered_ = places_.size();
    return nullptr;
  }
  asked_[offered_] = false;
  return &asked_[offered_];
}

void CallerPlaces::take(pid_t child) {
  if (offered_ < places_.size()) {
    places_[offered_] = {child, ++arrivals_};
  }
}

void CallerPlaces::leave(pid_t child) {
  for (Place& place : places_) {
    if (place.child == child) {
      place = {};
      awaited_.reset();
    }
  }
}

bool CallerPlaces::make_room() {
  const bool waited_for_nothing = awaited_ && awaited_->expired();
  awaited_.reset();
  Place* oldest = nullptr;
  for (std::size_t i = 0; asked_ != nullptr && i < places_.size(); ++i) {
    Place& place = places_[i];
    if (place.child != 0 && !asked_[i] && (oldest == nullptr || place.since < oldest->since)) {
      oldest = &place;
    }
  }
  if (oldest == nullptr || waited_for_nothing || ::kill(oldest->child, SIGUSR1) != 0) {
    return false;
  }
  awaited_ = base::Deadline::after(kPatience);
  return true;
}

std::optional<base::Deadline> CallerPlaces::awaited() const {
  return awaited_ && !awaited_->expired() ? awaited_ : std::nullopt;
}

} // namespace jprof::serve
