// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The spool killed at, and refused, every system call of a capture's way through it.
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/capture/bundle.h"
#include "sidecar/spool/spool.h"
#include "tests/support/system_call_faults.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace jprof::spool {
namespace {

using jprof::testing::Fault;

const std::string kId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const std::string kRecording(1000, 'r');
constexpr Demand kDemand{.bytes = 10'000, .captures_per_hour = 1000};

enum Step { kNothing = 0, kAccepted = 1, kSealed = 2, kDelivered = 3, kRemoved = 4 };

config::SpoolSettings settings_in(const std::string& directory) {
  config::SpoolSettings settings;
  settings.directory = directory;
  settings.quota = 1'000'000;
  return settings;
}

capture::Manifest manifest_of(const std::string& id) {
  capture::Manifest manifest;
  manifest.id = id;
  manifest.request_time = "2026-11-21T10:00:00Z";
  manifest.files = {{"profile.jprof", "jprof", kRecording.size(), base::sha256_hex(kRecording)}};
  return manifest;
}

// A whole life; `report` is told of each step that was confirmed. Returns the last one.
int live(const config::SpoolSettings& settings, const std::function<void(Step)>& report) {
  const auto now = std::chrono::system_clock::now();
  auto spool = Spool::own(settings);
  if (!spool || !spool->recover(now)) {
    return kNothing;
  }
  capture::Manifest draft = manifest_of(kId);
  draft.files.clear();
  const auto directory = spool->accept(draft, kDemand, now);
  if (!directory) {
    return kNothing;
  }
  report(kAccepted);
  if (!base::write_file_atomically(*directory + "/profile.jprof", kRecording, 0600) ||
      !spool->seal(kId, manifest_of(kId))) {
    return kAccepted;
  }
  report(kSealed);
  if (!spool->deliver(kId)) {
    return kSealed;
  }
  report(kDelivered);
  if (!spool->enforce(0, {now + std::chrono::hours(2), Moment::now().uptime})) {
    return kDelivered;
  }
  report(kRemoved);
  return kRemoved;
}

// What must hold after any damage, once the spool has been taken over again.
void expect_conserved(const config::SpoolSettings& settings, Step confirmed,
                      const std::string& where) {
  auto spool = Spool::own(settings);
  ASSERT_TRUE(spool) << where << spool.error().message;
  const auto recovered = spool->recover(std::chrono::system_clock::now());
  ASSERT_TRUE(recovered) << where << recovered.error().message;
  const auto counts = spool->counts();
  ASSERT_TRUE(counts) << where;
  EXPECT_TRUE(counts->balanced()) << where;
  EXPECT_EQ(counts->abandoned, 0U) << where;
  EXPECT_EQ(counts->expired, 0U) << where;
  EXPECT_LE(counts->accepted, 1U) << where;
  EXPECT_EQ(counts->count_open(OpenState::kRecording), 0U) << where;
  const Entry entry = spool->find(kId);
  if (confirmed >= kAccepted) {
    EXPECT_EQ(counts->accepted, 1U) << where;
  }
  if (confirmed >= kSealed) { // sealed is safe
    EXPECT_EQ(counts->failed, 0U) << where;
    EXPECT_TRUE(entry.place == Place::kSealed || counts->delivered == 1) << where;
  }
  if (confirmed >= kDelivered) {
    EXPECT_EQ(counts->delivered, 1U) << where;
  }
  if (entry.place == Place::kSealed || entry.place == Place::kDone) {
    const auto whole = capture::verify_bundle(entry.directory);
    EXPECT_TRUE(whole) << where << whole.error().message;
  }
  EXPECT_EQ(counts->delivered + counts->failed + counts->open.size(), counts->accepted) << where;
}

TEST(SpoolFaults, KeepsItsPromiseWhenKilledAtAnySystemCall) {
  int strikes = 0;
  for (int at = 1;; ++at) {
    const jprof::testing::TempDir directory;
    const auto settings = settings_in(directory.path() + "/spool");
    const std::string told = directory.path() + "/told";
    const auto run = run_with_fault(Fault::kKill, at, [&] {
      return live(settings, [&](Step step) {
        // A plain write: what a caller may have been told before the kill.
        static_cast<void>(base::write_file_atomically(told, std::to_string(step), 0600));
      });
    });
    if (!run.reached) {
      EXPECT_EQ(run.exit_code, kRemoved);
      break;
    }
    ++strikes;
    const auto text = base::read_file(told, 10);
    const auto confirmed = text && !text->empty() ? static_cast<Step>(text->at(0) - '0') : kNothing;
    expect_conserved(settings, confirmed, "killed at call " + std::to_string(at) + ": ");
  }
  EXPECT_GT(strikes, 50);
}

void sweep_errors(Fault fault) {
#ifndef __x86_64__
  GTEST_SKIP() << "results of system calls are changed on x86-64 only";
#endif
  int strikes = 0;
  for (int at = 1;; ++at) {
    const jprof::testing::TempDir directory;
    const auto settings = settings_in(directory.path() + "/spool");
    const auto run = run_with_fault(fault, at, [&] { return live(settings, [](Step) {}); });
    ASSERT_TRUE(run.finished) << at;
    expect_conserved(settings, static_cast<Step>(run.exit_code),
                     "error at call " + std::to_string(at) + ": ");
    if (!run.reached) {
      EXPECT_EQ(run.exit_code, kRemoved);
      break;
    }
    ++strikes;
  }
  EXPECT_GT(strikes, 20);
}

TEST(SpoolFaults, KeepsItsPromiseOnAFullDiskAtAnyCall) {
  sweep_errors(Fault::kNoSpace);
}

TEST(SpoolFaults, KeepsItsPromiseOnAnIoErrorAtAnyCall) {
  sweep_errors(Fault::kIoError);
}

} // namespace
} // namespace jprof::spool
