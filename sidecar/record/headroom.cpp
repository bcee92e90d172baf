// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/headroom.h"

#include "lib/base/mebibytes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace jprof::record {
namespace {

using base::mebibytes;
using container::MemoryGroup;
using container::MemoryRoom;

constexpr std::uint64_t kMebibyte = 1U << 20;

std::string used_of(const std::string& who, std::uint64_t used, std::uint64_t limit) {
  return who + " uses " + mebibytes(used) + " of its limit of " + mebibytes(limit);
}

std::uint64_t less(std::uint64_t from, std::uint64_t what) {
  return from - std::min(from, what);
}

// The limit of the innermost group.
std::optional<MemoryRoom> room_of(const std::vector<MemoryGroup>& groups) {
  return groups.empty() ? std::nullopt : groups.front().room();
}

} // namespace

MemoryNeed memory_need(std::uint64_t region_bytes) {
  // serve, its connection, the capture and the session, with what the kernel holds for them, took 6
  // to 9 MiB in addition to the region; with everything at its smallest, 8 MiB in all.
  constexpr std::uint64_t kProcesses = 12 * kMebibyte;
  constexpr std::uint64_t kMin = 8 * kMebibyte;
  // Up to 2 MiB: the agent's tables and thread, the JVM's attach thread, the page tables of the
  // region; nothing of the region itself, which is charged to us.
  constexpr std::uint64_t kAgent = 4 * kMebibyte;
  return {region_bytes + kProcesses, kMin, kAgent};
}

Surroundings surroundings(std::uint64_t pod_limit) {
  constexpr std::uint64_t kKubeletReserve = 100 * kMebibyte;
  const bool in_pod = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
  Surroundings around;
  around.pod_limit = pod_limit;
  around.node_reserve = in_pod ? kKubeletReserve : 0;
  return around;
}

Headroom::Headroom(std::vector<MemoryGroup> ours, std::vector<MemoryGroup> theirs,
                   Surroundings around)
    : ours_(std::move(ours)), theirs_(std::move(theirs)), around_(std::move(around)) {
  oom_kills_before_ = oom_kills();
}

std::uint64_t Headroom::oom_kills() const {
  const std::uint64_t now = theirs_.empty() ? 0 : theirs_.front().oom_kills().value_or(0);
  return less(now, oom_kills_before_);
}

bool Headroom::is_shared(const MemoryGroup& group) const {
  return std::ranges::any_of(
      ours_, [&group](const MemoryGroup& one) { return one.path() == group.path(); });
}

void Headroom::add_theirs(std::vector<Place>& places) const {
  for (const MemoryGroup& group : theirs_) {
    const auto room = group.room();
    if (!room || !room->limit || room->limit_is_inherited) {
      continue;
    }
    const bool innermost = &group == theirs_.data();
    const std::string who = innermost ? "the JVM's container" : "what holds the JVM's container";
    places.push_back({is_shared(group) ? Payer::kBoth : Payer::kTheirs,
                      used_of(who, room->used, *room->limit), *room->left()});
  }
}

void Headroom::add_ours(std::vector<Place>& places) const {
  for (const MemoryGroup& group : ours_) {
    const bool shared = std::ranges::any_of(
        theirs_, [&group](const MemoryGroup& one) { return one.path() == group.path(); });
    const auto room = group.room();
    if (shared || !room || !room->limit || room->limit_is_inherited) {
      continue;
    }
    places.push_back(
        {Payer::kOurs, used_of("jprof's container", room->used, *room->limit), *room->left()});
  }
}

// What the API said, or what cgroup version 1 reports about the groups that a container cannot see.
std::uint64_t Headroom::pod_limit() const {
  std::uint64_t limit = around_.pod_limit;
  for (const auto* groups : {&ours_, &theirs_}) {
    const auto room = groups->size() == 1 ? room_of(*groups) : std::nullopt;
    if (room && room->limit_is_inherited) {
      limit = limit == 0 ? *room->limit : std::min(limit, *room->limit);
    }
  }
  return limit;
}

void Headroom::add_pod(std::vector<Place>& places) const {
  const std::uint64_t limit = pod_limit();
  const auto theirs = room_of(theirs_);
  const auto ours = room_of(ours_);
  if (limit == 0 || !theirs || !ours || is_shared(theirs_.front())) {
    return;
  }
  const std::uint64_t used = theirs->used + ours->used;
  places.push_back({Payer::kBoth, used_of("the pod", used, limit), less(limit, used)});
}

void Headroom::add_node(std::vector<Place>& places) const {
  if (const auto available = container::machine_memory(around_.meminfo)) {
    const std::string reserve = around_.node_reserve == 0 ? std::string()
                                                          : ", and pods are evicted below " +
                                                                mebibytes(around_.node_reserve);
    places.push_back({Payer::kBoth, "the node has " + mebibytes(*available) + " left" + reserve,
                      less(*available, around_.node_reserve), true});
  }
}

std::vector<Headroom::Place> Headroom::places() const {
  std::vector<Place> all;
  add_theirs(all);
  add_ours(all);
  add_pod(all);
  add_node(all);
  return all;
}

base::Status Headroom::check(const MemoryNeed& need) const {
  constexpr const char* kForce = "; --force captures anyway, and the kernel may then kill the JVM";
  for (const Place& place : places()) {
    const bool ours = place.payer == Payer::kOurs;
    const std::uint64_t needed = ours                            ? need.ours_least
                                 : place.payer == Payer::kTheirs ? need.agent
                                                                 : need.ours + need.agent;
    if (place.left >= needed) {
      continue;
    }
    const std::string short_by = mebibytes(needed - place.left);
    const std::string victim = ours ? "the kernel would end it"
                               : place.is_node
                                   ? "the kernel or the kubelet would end something to make room"
                                   : "the kernel would end the JVM to make room";
    const std::string cure = place.is_node ? "free " + short_by + " on the node, or try again later"
                                           : "raise the memory limit by " + short_by;
    return base::make_failure(base::ErrorCode::kLimit,
                              place.what + ", and a capture needs up to " + mebibytes(needed) +
                                  " there: " + victim,
                              cure + kForce);
  }
  return {};
}

std::string Headroom::shortage() const {
  constexpr std::uint64_t kBrink = 4 * kMebibyte;
  for (const Place& place : places()) {
    if (place.payer == Payer::kBoth && place.left < kBrink) {
      return "memory ran short (" + place.what + "): the capture ended to give its memory back";
    }
  }
  return {};
}

std::optional<std::uint64_t> Headroom::for_us() const {
  const std::uint64_t agent = memory_need(0).agent;
  std::optional<std::uint64_t> least;
  for (const Place& place : places()) {
    if (place.payer != Payer::kTheirs) {
      const std::uint64_t left = place.payer == Payer::kBoth ? less(place.left, agent) : place.left;
      least = std::min(least.value_or(left), left);
    }
  }
  return least;
}

std::string Headroom::text() const {
  std::string out;
  const auto say = [&out](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  for (const Place& place : places()) {
    say(place.what);
  }
  const auto theirs = room_of(theirs_);
  const auto ours = room_of(ours_);
  const auto has_none = [](const std::optional<MemoryRoom>& room) {
    return room && (!room->limit || room->limit_is_inherited);
  };
  if (!theirs) {
    say("the memory limit and use of the JVM's container cannot be read from here");
  } else if (has_none(theirs)) {
    say("the JVM's container has no limit of its own");
  }
  if (!ours) {
    say("the memory limit and use of jprof's own container cannot be read");
  }
  if (around_.node_reserve != 0 && pod_limit() == 0) {
    say("the pod's own limit cannot be read from inside");
  }
  if (!container::machine_memory(around_.meminfo)) {
    say("the memory left on the node cannot be read");
  }
  return out;
}

} // namespace jprof::record
