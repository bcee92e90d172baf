// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/memory_group.h"

#include "lib/base/deadline.h"
#include "lib/base/file.h"
#include "sidecar/container/as_target.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <iterator>
#include <linux/magic.h>
#include <string_view>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace jprof::container {
namespace {

constexpr std::size_t kMaxFileBytes = 64U << 10;
// Version 1 writes "no limit" as a number near 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;
constexpr int kMaxLevels = 64;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt; // "max" is none
}

// The number after `key` in lines of "key number".
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      const std::size_t number = line.find_first_not_of(' ', key.size());
      return number == std::string_view::npos ? std::nullopt : number_in(line.substr(number));
    }
    at += line.size() + 1;
  }
  return std::nullopt;
}

base::UniqueFd open_in(int folder, const char* name) {
  return base::UniqueFd(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// The kernel writes these files anew for each read from their beginning.
std::string whole(int fd) {
  std::string text(kMaxFileBytes, '\0');
  ssize_t got = -1;
  do {
    got = ::pread(fd, text.data(), text.size(), 0);
  } while (got < 0 && errno == EINTR);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// "4:memory:/docker/abc", "0::/docker/abc": the process's group, in each version that has the
// controller. Version 1's line is there even if only version 2 counts memory.
struct Place {
  std::string folder; // below the mount of cgroups
  std::string path;
};

std::vector<Place> places_in(std::string_view text) {
  std::vector<Place> places;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (path == "/") {
      path.clear();
    }
    if (controllers.empty()) {
      places.push_back({"", std::move(path)});
    } else if (("," + std::string(controllers) + ",").find(",memory,") != std::string::npos) {
      places.push_back({"/memory", std::move(path)});
    }
  }
  return places;
}

base::UniqueFd open_folder(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// A group and those above it; empty if the mount does not show the tree that holds it: then its
// root is another group.
std::optional<std::vector<MemoryGroup>> climb(const std::string& mount, std::string path) {
  std::vector<MemoryGroup> groups;
  for (int level = 0; level < kMaxLevels; ++level) {
    if (const base::UniqueFd folder = open_folder(mount + path)) {
      if (auto group = MemoryGroup::open(folder.get(), path)) {
        groups.push_back(std::move(*group));
      }
    } else if (level == 0) {
      return std::nullopt;
    }
    if (path.empty()) {
      break;
    }
    path.resize(path.rfind('/'));
  }
  return groups;
}

std::vector<MemoryGroup> at(const base::UniqueFd& folder, const std::string& path) {
  std::vector<MemoryGroup> groups;
  if (auto group = folder ? MemoryGroup::open(folder.get(), path) : std::nullopt) {
    groups.push_back(std::move(*group));
  }
  return groups;
}

void add(std::vector<MemoryGroup> from, std::vector<MemoryGroup>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

bool is_of_cgroups(int fd) {
  struct statfs system {};
  return ::fstatfs(fd, &system) == 0 && (system.f_type == static_cast<long>(CGROUP2_SUPER_MAGIC) ||
                                         system.f_type == static_cast<long>(CGROUP_SUPER_MAGIC));
}

} // namespace

struct MemoryGroup::Version {
  const char* limit;
  const char* usage;
  const char* events; // where "oom_kill" is
  // Of memory.stat. Those of version 1 without "total_" leave out the groups below.
  std::string_view active_file;
  std::string_view inactive_file;
  std::string_view mapped_file;
  std::string_view shared; // memory in files, of which mapped_file counts what is mapped
};

std::optional<MemoryGroup> MemoryGroup::open(int folder, std::string path) {
  static constexpr std::array<Version, 2> kVersions = {{
      {"memory.max", "memory.current", "memory.events", "active_file", "inactive_file",
       "file_mapped", "shmem"},
      {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control", "total_active_file",
       "total_inactive_file", "total_mapped_file", "total_shmem"},
  }};
  for (const Version& version : kVersions) {
    MemoryGroup group(version, path);
    group.limit_ = open_in(folder, version.limit);
    group.usage_ = open_in(folder, version.usage);
    group.stat_ = open_in(folder, "memory.stat");
    group.events_ = open_in(folder, version.events);
    if (group.usage_) {
      return group;
    }
  }
  return std::nullopt;
}

std::optional<MemoryRoom> MemoryGroup::room() const {
  const auto usage = number_in(whole(usage_.get()));
  if (!usage) {
    return std::nullopt;
  }
  const std::string stat = stat_ ? whole(stat_.get()) : std::string();
  const auto of = [&stat](std::string_view key) { return value_of(stat, key).value_or(0); };
  const std::uint64_t inactive = of(version_->inactive_file);
  const std::uint64_t files = inactive + of(version_->active_file);
  const std::uint64_t mapped = of(version_->mapped_file);
  const std::uint64_t in_use = mapped - std::min(mapped, of(version_->shared));
  const std::uint64_t gives_up = std::max(files - std::min(files, in_use), inactive);
  MemoryRoom room;
  room.used = *usage - std::min(*usage, gives_up);
  const auto limit = limit_ ? number_in(whole(limit_.get())) : std::nullopt;
  if (limit && *limit < kNoLimit) {
    room.limit = limit;
  }
  const auto above = value_of(stat, "hierarchical_memory_limit");
  if (above && *above < kNoLimit && *above < room.limit.value_or(kNoLimit)) {
    room.limit = above;
    room.limit_is_inherited = true;
  }
  return room;
}

std::optional<std::uint64_t> MemoryGroup::oom_kills() const {
  return events_ ? value_of(whole(events_.get()), "oom_kill") : std::nullopt;
}

std::vector<MemoryGroup> own_memory_groups(const std::string& mount, const std::string& self) {
  const std::string text = base::read_file(self, kMaxFileBytes).value_or(std::string());
  std::vector<Place> places = places_in(text);
  if (places.empty()) {
    places = {{"", ""}, {"/memory", ""}};
  }
  std::vector<MemoryGroup> groups;
  for (const Place& place : places) {
    auto found = climb(mount + place.folder, place.path);
    // A container's mount shows our own group as its root.
    add(found ? std::move(*found) : at(open_folder(mount + place.folder), place.path), groups);
  }
  return groups;
}

std::vector<MemoryGroup> memory_groups_of(const Process& process, const TargetRoot& root,
                                          const std::string& mount) {
  constexpr std::chrono::seconds kPatience{2};
  const auto text = process.read("cgroup", kMaxFileBytes);
  std::vector<MemoryGroup> groups;
  for (const Place& place : text ? places_in(*text) : std::vector<Place>()) {
    const bool outside = place.path.starts_with("/..");
    if (auto found = outside ? std::nullopt : climb(mount + place.folder, place.path)) {
      add(std::move(*found), groups);
      continue;
    }
    auto folder = open_within(base::Deadline::after(kPatience),
                              [&] { return root.open_directory("/sys/fs/cgroup" + place.folder); });
    if (folder && is_of_cgroups(folder->get())) {
      add(at(*folder, place.path), groups);
    }
  }
  return groups;
}

std::optional<std::uint64_t> least_limit(const std::vector<MemoryGroup>& groups) {
  std::optional<std::uint64_t> least;
  for (const MemoryGroup& group : groups) {
    const auto room = group.room();
    if (room && room->limit) {
      least = std::min(least.value_or(*room->limit), *room->limit);
    }
  }
  return least;
}

std::optional<std::uint64_t> least_left(const std::vector<MemoryGroup>& groups) {
  std::optional<std::uint64_t> least;
  for (const MemoryGroup& group : groups) {
    const auto room = group.room();
    if (const auto left = room ? room->left() : std::nullopt) {
      least = std::min(least.value_or(*left), *left);
    }
  }
  return least;
}

std::optional<std::uint64_t> machine_memory(const std::string& meminfo) {
  const auto text = base::read_file(meminfo, kMaxFileBytes);
  const auto kibibytes = text ? value_of(*text, "MemAvailable:") : std::nullopt;
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

} // namespace jprof::container
