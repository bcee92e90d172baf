// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_reader.h"
#include "sidecar/record/recorder.h"
#include "sidecar/record/region_memory.h"
#include "tests/support/scripted_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <functional>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::RegionBuilder;
using jprof::testing::RegionShape;
using jprof::testing::ScriptedAgent;
using ::testing::HasSubstr;
using Agent = ScriptedAgent::Session;

constexpr std::uint64_t kRegionBytes = 512U << 10;
constexpr std::array<std::uint64_t, 2> kSession{7, 9};

TEST(Region, IsAllocatedAndItsSizeIsSealed) {
  const base::UniqueFd fd = make_region(1U << 20).value();

  EXPECT_EQ(::fcntl(fd.get(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(info.st_size, 1 << 20);
  EXPECT_GE(info.st_blocks * 512, 1 << 20); // the pages are there, at our expense
}

// mincore(2) tells which pages a fault would find up to date: allocated ones alone are not.
TEST(Region, HasPagesThatTheJvmNeedNotClear) {
  constexpr std::size_t kBytes = (1U << 20) + 5; // rounded up
  const base::UniqueFd fd = make_region(kBytes).value();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t pages = (kBytes + page - 1) / page;
  void* memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::vector<unsigned char> resident(pages);

  EXPECT_EQ(::mincore(memory, pages * page, resident.data()), 0);

  ::munmap(memory, pages * page);
  EXPECT_TRUE(std::ranges::all_of(resident, [](unsigned char flags) { return (flags & 1) != 0; }));
}

// A sane region that `damage` then changes, and what open() says.
base::Status open_damaged(const std::function<void(wire::RegionHeader&)>& damage) {
  const base::UniqueFd fd = make_region(kRegionBytes).value();
  RegionBuilder builder(fd.get(), kRegionBytes, kSession);
  damage(builder.header());
  const auto reader = RegionReader::open(fd.get(), kRegionBytes, kSession);
  return reader ? base::Status{} : base::fail(reader.error());
}

TEST(RegionReader, OpensASaneRegion) {
  EXPECT_TRUE(open_damaged([](wire::RegionHeader&) {}));
}

TEST(RegionReader, RefusesHeadersThatAreNotSane) {
  const std::vector<std::function<void(wire::RegionHeader&)>> damages{
      [](auto& h) { h.magic ^= 1; },
      [](auto& h) { h.session[1] ^= 1; },
      [](auto& h) { h.min_reader_version = wire::kRegionVersion + 1; },
      [](auto& h) { h.section_count = 0; },
      [](auto& h) { h.sections[0].record_bytes = 0; },
      [](auto& h) { h.sections[0].record_bytes = 8; },
      [](auto& h) { h.sections[0].record_bytes = 0xfffffff9; },
      [](auto& h) { h.sections[1].offset = 0; },
      [](auto& h) { h.sections[1].offset = UINT64_MAX - 7; },
      [](auto& h) { h.sections[1].offset += 1; },
      [](auto& h) { h.sections[2].bytes = UINT64_MAX; },
      [](auto& h) { h.sections[3].bytes = kRegionBytes; },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const base::Status status = open_damaged(damages[i]);
    ASSERT_FALSE(status) << i;
    EXPECT_EQ(status.error().code, base::ErrorCode::kProtocol) << i;
  }
}

TEST(RegionReader, SkipsSectionsOfUnknownKinds) {
  EXPECT_TRUE(open_damaged([](wire::RegionHeader& header) {
    header.sections[header.section_count] = header.sections[0];
    header.sections[header.section_count++].kind = 4711;
  }));
}

RecorderOptions options_for_malice() {
  RecorderOptions options;
  options.region_bytes = kRegionBytes;
  options.duration = 50ms;
  options.drain_period = 2ms;
  options.start_timeout = 2000ms;
  options.stop_timeout = 200ms;
  return options;
}

struct Recorded {
  base::Result<RecorderResult> result;
  std::string file;
};

Recorded run(ScriptedAgent& agent) {
  Recorded out;
  RecorderInput input;
  input.socket = agent.sidecar_socket();
  input.sink = [&out](std::string_view bytes) -> base::Status {
    out.file += bytes;
    return {};
  };
  input.native.namer = [](std::uint64_t, std::uint64_t) {
    return NativeName{"native", "", "", false};
  };
  input.native.set_modules = [](const std::vector<wire::ModuleSlot>& modules) {
    return !modules.empty();
  };
  out.result = record(input, options_for_malice());
  agent.close_sidecar_socket();
  return out;
}

std::uint32_t any_stack(Agent& agent) {
  const std::uint32_t name = agent.region().add_name("a/B", "c");
  const std::array frames{wire::make_java_frame(wire::FrameKind::kC1, 0, name)};
  return agent.region().add_stack(frames);
}

TEST(HostileAgent, CannotMakeTheRingLarger) {
  for (const std::uint64_t head : {std::uint64_t{1026}, std::uint64_t{1} << 40, UINT64_MAX}) {
    ScriptedAgent agent([head](Agent& a) {
      a.region().add_sample({.stack = any_stack(a)});
      a.send_started();
      while (a.region().header().ring_tail < 1 && a.hear(5000ms)) {
      }
      a.region().header().ring_head = head;
      while (!a.hung_up()) {
        a.hear(1000ms);
      }
    });

    const Recorded recorded = run(agent);

    ASSERT_TRUE(recorded.result);
    EXPECT_EQ(recorded.result->samples, 1U);
    EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("recording region is invalid"));
    EXPECT_TRUE(profile::read_recording(recorded.file).value().health.complete);
  }
}

TEST(HostileAgent, CannotMoveSectionsLater) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    a.hear(5000ms); // the layout has been taken
    for (wire::Section& section : a.region().header().sections) {
      section.offset = UINT64_MAX / 2;
    }
    a.hear(100ms);
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_FALSE(recorded.result->info.partial) << recorded.result->info.partial_reason;
}

TEST(HostileAgent, CannotKeepTheSidecarBusyByMessages) {
  ScriptedAgent agent([](Agent& a) {
    a.region().add_sample({.stack = any_stack(a)});
    a.send_started();
    while (!a.hung_up()) {
      a.send_started();
      a.hear(0ms);
    }
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("floods"));
}

TEST(HostileAgent, CannotSendShortMessages) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    const wire::ControlHeader header{static_cast<std::uint32_t>(wire::ControlType::kStopped), 24};
    a.send_raw(&header, sizeof(header));
    while (!a.hung_up()) {
      a.hear(1000ms);
    }
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("too short"));
}

TEST(HostileAgent, CannotGiveSamplesTimesOutsideTheCapture) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = any_stack(a);
    const std::uint64_t start = a.region().header().start_mono_ns;
    a.send_started();
    a.region().add_sample({.time_ns = 0 - start, .stack = stack});
    a.region().add_sample({.time_ns = UINT64_MAX / 2, .stack = stack});
    a.send_stopped(wire::StopReason::kDeadline);
  });

  const Recorded recorded = run(agent);

  const profile::Recording file = profile::read_recording(recorded.file).value();
  ASSERT_EQ(file.profile.event().samples.size(), 2U);
  EXPECT_GE(file.profile.event().samples.front().time, 0ns);
  EXPECT_LT(file.profile.event().samples.back().time, 1min);
}

// While the sidecar reads, the agent writes random bytes over whatever it likes.
TEST(HostileAgent, CannotCrashTheSidecarByRandomBytes) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    ScriptedAgent agent([seed](Agent& a) {
      std::mt19937 random(seed);
      RegionBuilder& region = a.region();
      for (int i = 0; i < 50; ++i) {
        region.add_sample({.stack = any_stack(a)});
      }
      region.set_thread(1, 5, "t");
      region.set_module(0, 1, 2, 0, "/lib/x.so");
      a.send_started();
      a.hear(5000ms);
      const std::span<std::byte> bytes = region.bytes();
      while (!a.peer_is_gone()) {
        // Mostly where the structures are; the header's geometry is among them. Nothing of the
        // builder is used any more: its own bookkeeping is damaged as well.
        const std::size_t reach = random() % 2 == 0 ? 4096 : bytes.size();
        for (int i = 0; i < 500; ++i) {
          bytes[random() % reach] = static_cast<std::byte>(random());
        }
        std::this_thread::sleep_for(1ms);
      }
    });

    const Recorded recorded = run(agent);

    ASSERT_TRUE(recorded.result);
    EXPECT_TRUE(profile::read_recording(recorded.file)) << seed;
  }
}

} // namespace
} // namespace jprof::record
