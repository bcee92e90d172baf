// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/recording_reader.h"
#include "sidecar/record/recorder.h"
#include "tests/support/scripted_agent.h"

#include <array>
#include <chrono>
#include <map>
#include <string>

// Runs a recorder against a scripted agent and gives what it wrote.
namespace jprof::record {

using Agent = jprof::testing::ScriptedAgent::Session;

inline wire::Frame java(std::uint32_t name) {
  return wire::make_java_frame(wire::FrameKind::kC2, wire::kNoBci, name);
}

inline std::uint32_t java_stack(Agent& agent, const std::string& leaf) {
  auto& region = agent.region();
  const std::array frames{java(region.add_name("com/acme/Shop", leaf)),
                          java(region.add_name("java/lang/Thread", "run"))};
  return region.add_stack(frames);
}

// One recording, from a scripted agent to what the file holds.
struct Recorded {
  base::Result<RecorderResult> result;
  std::string file;
  profile::Recording read() const { return profile::read_recording(file).value(); }
};

inline RecorderOptions quick_options() {
  RecorderOptions options;
  options.region_bytes = 1U << 20;
  options.duration = std::chrono::seconds(20); // scripts end it sooner
  options.drain_period = std::chrono::milliseconds(20);
  options.start_timeout = std::chrono::milliseconds(2000);
  options.stop_timeout = std::chrono::milliseconds(300);
  return options;
}

inline Recorded run(jprof::testing::ScriptedAgent& agent,
                    const RecorderOptions& options = quick_options(), RecorderInput input = {}) {
  Recorded out;
  input.socket = agent.sidecar_socket();
  if (!input.sink) {
    input.sink = [&out](std::string_view bytes) -> base::Status {
      out.file += bytes;
      return {};
    };
  }
  if (!input.native.namer) {
    input.native.namer = [](std::uint64_t address, std::uint64_t) {
      return NativeName{"native_" + std::to_string(address), "/lib/x.so", "", false};
    };
  }
  out.result = record(input, options);
  return out;
}

inline std::string stack_text(const profile::Profile& profile, profile::StackId id) {
  std::string text;
  for (const profile::FrameId frame : profile.stack(id)) {
    text += text.empty() ? "" : ";";
    text += profile.string(profile.frame(frame).name);
  }
  return text;
}

inline std::map<std::string, std::uint64_t> samples_by_stack(const profile::Profile& profile) {
  std::map<std::string, std::uint64_t> out;
  for (const profile::Sample& sample : profile.event().samples) {
    out[stack_text(profile, sample.stack)] += sample.count;
  }
  return out;
}

} // namespace jprof::record
