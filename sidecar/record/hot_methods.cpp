// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/hot_methods.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace jprof::record {

void HotMethods::add(profile::FrameId leaf, std::uint64_t weight) {
  const auto at = static_cast<std::size_t>(leaf);
  if (at >= by_frame_.size()) {
    by_frame_.resize(at + 1);
  }
  ++by_frame_[at].samples;
  by_frame_[at].weight += weight;
}

void HotMethods::remove(profile::FrameId leaf, std::uint64_t weight) {
  Self& self = by_frame_[static_cast<std::size_t>(leaf)];
  --self.samples;
  self.weight -= weight;
}

std::vector<MethodShare>
HotMethods::top(std::size_t most,
                const std::function<std::string_view(profile::FrameId)>& name_of) const {
  std::unordered_map<std::string_view, Self> by_name;
  for (std::size_t at = 0; at < by_frame_.size(); ++at) {
    if (by_frame_[at].samples > 0) {
      Self& self = by_name[name_of(static_cast<profile::FrameId>(at))];
      self.samples += by_frame_[at].samples;
      self.weight += by_frame_[at].weight;
    }
  }
  std::vector<MethodShare> out;
  out.reserve(by_name.size());
  for (const auto& [name, self] : by_name) {
    out.push_back({std::string(name), self.samples, self.weight});
  }
  const auto kept = std::min(most, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), out.end(),
                    [](const MethodShare& a, const MethodShare& b) {
                      return std::tuple(b.weight, b.samples, std::string_view(a.name)) <
                             std::tuple(a.weight, a.samples, std::string_view(b.name));
                    });
  out.resize(kept);
  return out;
}

} // namespace jprof::record
