// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/generations.h"

#include "agent/recording/region_layout.h"
#include "agent/sampling/shared_memory.h"

namespace jprof::agent::recording {
namespace {

using sampling::store_release;
using wire::GenerationState;

void set_state(const sampling::Generation& generation, GenerationState state) {
  store_release(generation.info->state, static_cast<std::uint32_t>(state));
}
bool is(const sampling::Generation& generation, GenerationState state) {
  return generation.info->state == static_cast<std::uint32_t>(state);
}

} // namespace

void Generations::begin(sampling::Sampler* sampler) {
  *this = Generations{};
  sampler_ = sampler;
  last_number_ = 1;
  reset_generation(sampler_->generations[0], last_number_);
  set_state(sampler_->generations[1], GenerationState::kFree);
}

void Generations::tick() {
  const std::uint32_t active = sampler_->generation_gate.active();
  const std::uint32_t other = 1 - active;
  if (closing_) {
    if (!sampler_->generation_gate.idle(other)) {
      return;
    }
    set_state(sampler_->generations[other], GenerationState::kClosed);
    closing_ = false;
  }
  if (is_half_full(sampler_->generations[active]) &&
      is(sampler_->generations[other], GenerationState::kFree)) {
    reset_generation(sampler_->generations[other], ++last_number_);
    sampler_->generation_gate.switch_to(other);
    closing_ = true;
    sampling::count(*sampler_, wire::Counter::kGenerationFlips);
  }
}

void Generations::drained(std::uint32_t number) {
  for (auto& generation : sampler_->generations) {
    if (is(generation, GenerationState::kClosed) && generation.info->number <= number) {
      set_state(generation, GenerationState::kFree);
    }
  }
}

void Generations::close_all() {
  for (auto& generation : sampler_->generations) {
    if (is(generation, GenerationState::kActive)) {
      set_state(generation, GenerationState::kClosed);
    }
  }
}

bool Generations::is_half_full(const sampling::Generation& generation) const {
  return sampling::load_relaxed(generation.info->stacks_committed_bytes) >
             generation.stacks.arena.bytes / 2 ||
         sampling::load_relaxed(generation.info->names_committed_bytes) >
             generation.names.arena.bytes / 2;
}

} // namespace jprof::agent::recording
