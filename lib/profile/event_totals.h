// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <cstdint>

namespace jprof::profile {

// What a recording's end says of one event: its writer counts, and its reader compares.
struct EventTotals {
  std::uint64_t samples = 0; // entries whose count is not 0
  std::uint64_t weight = 0;
  std::uint64_t count = 0;

  void add(const Sample& sample) {
    samples += sample.count > 0 ? 1U : 0U;
    weight += sample.weight;
    count += sample.count;
  }
  void take_back(const Sample& sample) {
    samples -= sample.count > 0 ? 1U : 0U;
    weight -= sample.weight;
    count -= sample.count;
  }
  friend bool operator==(const EventTotals&, const EventTotals&) = default;
};

} // namespace jprof::profile
