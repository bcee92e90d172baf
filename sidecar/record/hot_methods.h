// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"
#include "sidecar/record/capture_job.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace jprof::record {

// The self weight of each method: that of the samples whose leaf it is. A method that ran both
// interpreted and compiled counts once. One thread at a time.
class HotMethods {
 public:
  void add(profile::FrameId leaf, std::uint64_t weight);
  // Undoes an add().
  void remove(profile::FrameId leaf, std::uint64_t weight);
  // The `most` heaviest; `name_of` gives a frame's name.
  std::vector<MethodShare>
  top(std::size_t most, const std::function<std::string_view(profile::FrameId)>& name_of) const;

 private:
  struct Self {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
  };
  std::vector<Self> by_frame_;
};

} // namespace jprof::record
