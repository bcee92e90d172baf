// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/cgroup.h"

#include <algorithm>

namespace jprof::container {
namespace {

constexpr std::size_t kContainerIdDigits = 64;
constexpr std::size_t kUidDigits = 32;
constexpr std::size_t kUidWithDashes = 36;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Visits the parts of `text` between separators, until `visit` says false.
template <typename Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The id in a path component: "<id>", "cri-containerd-<id>.scope", "cri-containerd:<id>".
std::string container_id_in(std::string_view component) {
  if (component.ends_with(".scope")) {
    component.remove_suffix(6);
  }
  if (component.size() < kContainerIdDigits) {
    return {};
  }
  const std::string_view id = component.substr(component.size() - kContainerIdDigits);
  const std::string_view before = component.substr(0, component.size() - kContainerIdDigits);
  if (!std::all_of(id.begin(), id.end(), is_hex) ||
      !(before.empty() || before.back() == '-' || before.back() == ':')) {
    return {};
  }
  return std::string(id);
}

// A pod's uid at the start of `text`, dashes possibly written as underscores by systemd.
std::string pod_uid_at(std::string_view text) {
  std::string uid;
  for (const char c : text.substr(0, kUidWithDashes)) {
    if (!is_hex(c) && c != '-' && c != '_') {
      break;
    }
    uid.push_back(c == '_' ? '-' : c);
  }
  const auto digits = static_cast<std::size_t>(std::count_if(uid.begin(), uid.end(), is_hex));
  const bool dashed = uid.size() == kUidWithDashes && uid[8] == '-' && uid[13] == '-' &&
                      uid[18] == '-' && uid[23] == '-';
  const bool plain = uid.size() == kUidDigits && text.size() >= kUidDigits;
  return digits == kUidDigits && (dashed || plain) ? uid : std::string();
}

std::string pod_uid_in(std::string_view component) {
  if (component.starts_with("pod")) {
    return pod_uid_at(component.substr(3));
  }
  const auto mark = component.find("-pod");
  return component.starts_with("kubepods") && mark != std::string_view::npos
             ? pod_uid_at(component.substr(mark + 4))
             : std::string();
}

} // namespace

ContainerIds parse_cgroup(std::string_view text) {
  ContainerIds ids;
  for_each_part(text, '\n', [&ids](std::string_view line) {
    // hierarchy:controllers:path; the path may hold colons
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      return;
    }
    for_each_part(line.substr(second + 1), '/', [&ids](std::string_view component) {
      if (std::string id = container_id_in(component); !id.empty()) {
        ids.container_id = std::move(id); // the innermost wins: a runtime in a container
      }
      if (std::string uid = pod_uid_in(component); !uid.empty()) {
        ids.pod_uid = std::move(uid);
      }
    });
  });
  return ids;
}

void complete_from_mountinfo(std::string_view text, ContainerIds& ids) {
  constexpr std::string_view kPods = "/pods/";
  for_each_part(text, '\n', [&](std::string_view line) {
    int field = 0;
    for_each_part(line, ' ', [&](std::string_view value) {
      ++field;
      if (field != 4) { // the mount's root within its file system: what was bind-mounted
        return;
      }
      const auto pods = value.find(kPods);
      if (ids.pod_uid.empty() && pods != std::string_view::npos) {
        ids.pod_uid = pod_uid_at(value.substr(pods + kPods.size()));
      }
      if (ids.container_id.empty() && value.find("/containers/") != std::string_view::npos &&
          value.find("/hostname") == std::string_view::npos) {
        for_each_part(value, '/', [&ids](std::string_view component) {
          if (ids.container_id.empty()) {
            ids.container_id = container_id_in(component);
          }
        });
      }
    });
  });
}

ContainerIds container_ids_of(const Process& process) {
  constexpr std::size_t kTextBytes = 1U << 20U;
  ContainerIds ids;
  if (const auto cgroup = process.read("cgroup", kTextBytes)) {
    ids = parse_cgroup(*cgroup);
  }
  if (const auto mounts = process.read("mountinfo", kTextBytes)) {
    complete_from_mountinfo(*mounts, ids);
  }
  return ids;
}

} // namespace jprof::container
