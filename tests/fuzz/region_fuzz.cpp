// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Attack surface: the recording region, whose every byte a hostile JVM writes. Sought: reads
// outside it, crashes, memory or time out of proportion. The input is laid over a sane region:
// pairs of a place and bytes for it, so that mutations reach what lies behind the checks.
#include "lib/base/check.h"
#include "lib/profile/recording_reader.h"
#include "sidecar/record/intake.h"
#include "sidecar/record/region_memory.h"
#include "tests/support/region_builder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace {

using namespace jprof;

constexpr std::uint64_t kBytes = 128U << 10;
constexpr std::array<std::uint64_t, 2> kSession{1, 2};

void fill_sanely(testing::RegionBuilder& region) {
  region.set_thread(0, 100, "main", 5);
  region.set_module(0, 0x1000, 0x2000, 0x1000, "/lib/libx.so");
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::array frames{
        wire::make_java_frame(wire::FrameKind::kC2, 1, region.add_name("a/B", "leaf")),
        wire::make_frame(wire::FrameKind::kNative, 0x1000 + i),
        wire::make_java_frame(wire::FrameKind::kInterpreted, 2, region.add_name("a/C", "root"))};
    testing::RegionBuilder::NewSample sample;
    sample.stack = region.add_stack(frames, static_cast<std::uint16_t>(i % 4));
    region.add_sample(sample);
    if (i == 10) {
      region.flip();
    }
  }
}

// Input: records of offset (3 bytes), length (1 byte), bytes.
void overlay(std::span<const std::uint8_t> input, std::span<std::byte> region) {
  while (input.size() > 4) {
    const std::size_t at =
        (input[0] | std::size_t{input[1]} << 8 | std::size_t{input[2]} << 16) % region.size();
    std::size_t size = std::min<std::size_t>(input[3], input.size() - 4);
    size = std::min(size, region.size() - at);
    std::memcpy(region.data() + at, input.data() + 4, size);
    input = input.subspan(4 + size);
  }
}

void read_everything(int fd) {
  auto reader = record::RegionReader::open(fd, kBytes, kSession);
  if (!reader) {
    return;
  }
  std::string file;
  profile::ProfileInfo info;
  info.has_times = true;
  profile::RecordingWriter writer(
      [&file](std::string_view bytes) -> base::Status {
        file += bytes;
        return {};
      },
      info);
  record::Intake intake(*reader, writer,
                        [](std::uint64_t, std::uint64_t) {
                          return record::NativeName{"f", "m", "", false};
                        },
                        {});
  for (const record::Reading reading : {record::Reading::kLive, record::Reading::kFinal}) {
    intake.update_threads(record::ThreadRegistry::CpuTimes::kWrite);
    reader->read_modules();
    if (!reader->refresh() || !intake.drain(reading)) {
      break;
    }
  }
  JPROF_CHECK(writer.finish(info).has_value());
  JPROF_CHECK(profile::read_recording(file).value().health.complete);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::UniqueFd fd = record::make_region(kBytes).value();
  testing::RegionShape shape;
  shape.ring_slots = 64;
  shape.threads = 8;
  shape.modules = 4;
  shape.stack_bytes = 8U << 10;
  shape.name_bytes = 8U << 10;
  testing::RegionBuilder region(fd.get(), kBytes, kSession, shape);
  fill_sanely(region);
  overlay({data, size}, region.bytes());
  read_everything(fd.get());
  return 0;
}
