// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/walker_round.h"

#include "lib/profile/rest.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

namespace jprof::record {
namespace {

constexpr std::string_view kSamples = "samples";

bool is_java(const profile::Profile& profile, const profile::Frame& frame) {
  switch (frame.kind) {
  case profile::FrameKind::kInterpreted:
  case profile::FrameKind::kC1:
  case profile::FrameKind::kC2:
  case profile::FrameKind::kInlined:
  case profile::FrameKind::kJavaNative:
    return true;
  case profile::FrameKind::kUnknown: // a method, as AsyncGetCallTrace, JVMTI and JMX give it
    return !profile.string(frame.owner).empty();
  default:
    return false;
  }
}

std::string method_of(const profile::Profile& profile, profile::StackId stack) {
  const std::span<const profile::FrameId> frames = profile.stack(stack);
  if (frames.empty() || profile.frame(frames.back()).kind == profile::FrameKind::kError) {
    return kFailedWalk;
  }
  for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
    const profile::Frame& frame = profile.frame(*at);
    if (is_java(profile, frame)) {
      return std::string(profile.string(frame.name));
    }
    if (frame.kind == profile::FrameKind::kError) { // the walk ended before it reached Java code
      return kFailedWalk;
    }
  }
  return kNoJavaMethod;
}

// Takes "NUMBER " or "NUMBER\n" off the front.
std::optional<std::uint64_t> take_number(std::string_view& text, char end) {
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at == text.data() + text.size() || *at != end) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return number;
}

} // namespace

WalkerRound round_of(const profile::Profile& profile) {
  WalkerRound round;
  for (const profile::Sample& sample : profile.event().samples) {
    if (profile::is_rest(profile, sample.stack)) {
      continue; // no walker was asked
    }
    const auto weight = static_cast<double>(sample.weight);
    round.weights[method_of(profile, sample.stack)] += weight;
    round.weight += weight;
    round.samples += sample.count;
  }
  return round;
}

std::string round_text(const WalkerRound& round) {
  std::string out = std::string(kSamples) + ' ' + std::to_string(round.samples) + '\n';
  for (const auto& [method, weight] : round.weights) {
    std::string name = method;
    std::replace(name.begin(), name.end(), '\n', ' ');
    out += std::to_string(static_cast<std::uint64_t>(weight)) + ' ' + name + '\n';
  }
  return out;
}

base::Result<WalkerRound> parse_round(std::string_view text) {
  const auto damaged = [] {
    return base::make_failure(base::ErrorCode::kInvalidData, "a round's result is damaged");
  };
  if (!text.starts_with(kSamples) || !text.ends_with('\n')) {
    return damaged();
  }
  text.remove_prefix(std::min(text.size(), kSamples.size() + 1));
  const auto samples = take_number(text, '\n');
  if (!samples) {
    return damaged();
  }
  WalkerRound round;
  round.samples = *samples;
  while (!text.empty()) {
    const auto weight = take_number(text, ' ');
    const auto end = text.find('\n');
    if (!weight || end == std::string_view::npos) {
      return damaged();
    }
    round.weights[std::string(text.substr(0, end))] += static_cast<double>(*weight);
    round.weight += static_cast<double>(*weight);
    text.remove_prefix(end + 1);
  }
  return round;
}

} // namespace jprof::record
