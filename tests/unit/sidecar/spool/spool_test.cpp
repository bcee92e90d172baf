// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/base/unique_fd.h"
#include "lib/capture/bundle.h"
#include "sidecar/spool/file_lock.h"
#include "sidecar/spool/spool.h"
#include "sidecar/spool/spool_files.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::spool {
namespace {

using namespace std::chrono_literals;

const std::string kId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const std::string kOther = "01ARZ3NDEKTSV4RRFFQ69G5FAW";
const std::string kRecording(1000, 'r');
constexpr Demand kDemand{.bytes = 10'000, .captures_per_hour = 1000};

Spool::Time now() {
  return std::chrono::system_clock::now();
}

// By the wall clock alone, and by the machine's.
Moment wall_in(std::chrono::seconds time) {
  Moment moment = Moment::now();
  moment.wall += time;
  return moment;
}
Moment in(std::chrono::seconds time) {
  Moment moment = wall_in(time);
  moment.uptime.seconds += time.count();
  return moment;
}

capture::Manifest draft_of(const std::string& id) {
  capture::Manifest draft;
  draft.id = id;
  draft.request_time = "2026-11-21T10:00:00Z";
  draft.source.pod = "checkout-1";
  return draft;
}

capture::Manifest manifest_of(const std::string& id) {
  capture::Manifest manifest = draft_of(id);
  manifest.files = {{"profile.jprof", "jprof", kRecording.size(), base::sha256_hex(kRecording)}};
  return manifest;
}

class SpoolTest : public ::testing::Test {
 protected:
  SpoolTest() {
    settings_.directory = directory_.path() + "/spool";
    settings_.quota = 100'000;
  }
  Spool own() {
    auto spool = Spool::own(settings_);
    EXPECT_TRUE(spool);
    return std::move(*spool);
  }
  void accept(Spool& spool, const std::string& id) {
    const auto directory = spool.accept(draft_of(id), kDemand, now());
    ASSERT_TRUE(directory) << directory.error().message;
    ASSERT_TRUE(base::write_file_atomically(*directory + "/profile.jprof", kRecording, 0600));
  }
  void seal(Spool& spool, const std::string& id) {
    accept(spool, id);
    ASSERT_TRUE(spool.seal(id, manifest_of(id)));
  }
  void expect_counts(const Spool& spool, std::uint64_t accepted, std::uint64_t delivered,
                     std::uint64_t failed, std::uint64_t expired) {
    const auto counts = spool.counts();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->accepted, accepted);
    EXPECT_EQ(counts->delivered, delivered);
    EXPECT_EQ(counts->failed, failed);
    EXPECT_EQ(counts->expired, expired);
    EXPECT_TRUE(counts->balanced());
  }

  jprof::testing::TempDir directory_;
  config::SpoolSettings settings_;
};

TEST_F(SpoolTest, LeadsACaptureFromRequestToDelivery) {
  Spool spool = own();
  accept(spool, kId);
  EXPECT_EQ(spool.find(kId).place, Place::kIncoming);

  ASSERT_TRUE(spool.seal(kId, manifest_of(kId)));
  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  EXPECT_TRUE(capture::verify_bundle(spool.find(kId).directory));
  EXPECT_EQ(names_in(spool.find(kId).directory).size(), 2U);

  ASSERT_TRUE(spool.deliver(kId));
  EXPECT_EQ(spool.find(kId).place, Place::kDone);
  expect_counts(spool, 1, 1, 0, 0);
}

TEST_F(SpoolTest, HasOneOwner) {
  const Spool first = own();
  EXPECT_EQ(Spool::own(settings_).error().code, base::ErrorCode::kBusy);
}

TEST_F(SpoolTest, SaysWhatToMountWhereItCannotBe) {
  settings_.directory = "/proc/spool";
  const auto spool = Spool::own(settings_);
  ASSERT_FALSE(spool);
  EXPECT_NE(spool.error().cure.find("/var/lib/jprof"), std::string::npos);
}

TEST_F(SpoolTest, KnowsAnIdOnlyOnce) {
  Spool spool = own();
  seal(spool, kId);
  EXPECT_EQ(spool.accept(draft_of(kId), kDemand, now()).error().code,
            base::ErrorCode::kAlreadyExists);
}

TEST_F(SpoolTest, LetsNoIdOutOfItsDirectory) {
  Spool spool = own();
  for (const std::string id : {"../../x", "", ".", "a/b", "..aaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_FALSE(spool.accept(draft_of(id), kDemand, now()));
    EXPECT_EQ(spool.find(id).place, Place::kNone);
  }
}

TEST_F(SpoolTest, RefusesWhenTheQuotaIsUsedUpAndLeavesSealedOnesAlone) {
  settings_.quota = 12'000;
  Spool spool = own();
  seal(spool, kId);

  const auto refused =
      spool.accept(draft_of(kOther), {.bytes = 11'500, .captures_per_hour = 9}, now());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::kLimit);
  EXPECT_FALSE(refused.error().cure.empty());
  ASSERT_TRUE(spool.enforce(11'500, in(0s)));
  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  expect_counts(spool, 1, 0, 0, 0);
}

TEST_F(SpoolTest, MakesRoomFromDeliveredOnesOnly) {
  settings_.quota = 12'000;
  Spool spool = own();
  seal(spool, kId);
  ASSERT_TRUE(spool.deliver(kId));
  seal(spool, kOther);

  const auto lines = spool.enforce(11'500, in(0s));

  ASSERT_TRUE(lines);
  EXPECT_TRUE(lines->empty()); // it is no loss
  EXPECT_EQ(spool.find(kId).place, Place::kNone);
  EXPECT_EQ(spool.find(kOther).place, Place::kSealed);
  expect_counts(spool, 2, 1, 0, 0);
}

// Says by its result which step was the last that went well.
int fill_deliver_and_go_on(const config::SpoolSettings& settings) {
  constexpr Demand kSome{.bytes = 300'000, .captures_per_hour = 1000};
  const std::string large(600'000, 'r');
  auto spool = Spool::own(settings);
  const auto first = spool ? spool->accept(draft_of(kId), kSome, now())
                           : base::Result<std::string>(base::fail(spool.error()));
  capture::Manifest manifest = draft_of(kId);
  manifest.files = {{"profile.jprof", "jprof", large.size(), base::sha256_hex(large)}};
  if (!first || !base::write_file_atomically(*first + "/profile.jprof", large, 0600) ||
      !spool->seal(kId, manifest)) {
    return 0;
  }
  // Somebody else fills the disk to the last byte.
  const std::string rest(4096, 'x');
  const base::UniqueFd other(
      ::open((settings.directory + "/../other").c_str(), O_WRONLY | O_CREAT, 0600));
  while (::write(other.get(), rest.data(), rest.size()) > 0) {
  }
  if (!spool->deliver(kId) || spool->counts()->delivered != 1) {
    return 1;
  }
  if (!spool->enforce(kSome.bytes, in(0s))) {
    return 2;
  }
  return spool->accept(draft_of(kOther), kSome, now()) ? 4 : 3;
}

TEST_F(SpoolTest, MakesRoomOnAFullDiskFromDeliveredOnes) {
  settings_.quota = std::uint64_t{1} << 30;
  const auto last = jprof::testing::run_on_small_disk(
      directory_.path(), 1 << 20, [this] { return fill_deliver_and_go_on(settings_); });
  if (!last) {
    GTEST_SKIP() << "no file system may be mounted here";
  }
  EXPECT_EQ(*last, 4);
}

TEST_F(SpoolTest, ForetellsWhatItWillSay) {
  settings_.quota = 12'000;
  Spool spool = own();
  constexpr Demand kTwo{.bytes = 10'000, .captures_per_hour = 2};
  EXPECT_TRUE(spool.foretell(kTwo, now()));
  seal(spool, kId);
  ASSERT_TRUE(spool.deliver(kId));
  EXPECT_TRUE(
      spool.foretell({.bytes = 11'500, .captures_per_hour = 2}, now())); // it would be dropped
  accept(spool, kOther);

  const base::Status full = spool.foretell({.bytes = 10'000, .captures_per_hour = 9}, now());
  const base::Status often = spool.foretell(kTwo, now());

  ASSERT_FALSE(full);
  EXPECT_NE(full.error().cure.find("spool.quota"), std::string::npos);
  ASSERT_FALSE(often);
  EXPECT_NE(often.error().cure.find("capturesPerHour"), std::string::npos);
  expect_counts(spool, 2, 1, 0, 0);
}

TEST_F(SpoolTest, PromisesNoRoomTwice) {
  settings_.quota = 25'000;
  Spool spool = own();
  accept(spool, kId); // of 10,000 bytes, and has 1,000 so far
  accept(spool, kOther);

  const auto third = spool.accept(draft_of(std::string(64, 'a')), kDemand, now());

  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, base::ErrorCode::kLimit);
  expect_counts(spool, 2, 0, 0, 0);
}

TEST_F(SpoolTest, PromisesNoRoomTwiceAtOnce) {
  settings_.quota = 25'000;
  Spool spool = own();
  std::atomic<int> accepted = 0;
  std::vector<std::jthread> callers;
  for (char digit = '0'; digit < '6'; ++digit) {
    callers.emplace_back([&, digit] {
      accepted += spool.accept(draft_of(std::string(64, digit)), kDemand, now()) ? 1 : 0;
    });
  }
  callers.clear();
  EXPECT_EQ(accepted, 2);
  EXPECT_EQ(spool.counts()->accepted, 2U);
}

TEST_F(SpoolTest, RemovesWhatIsTooOldAndSaysSo) {
  Spool spool = own();
  seal(spool, kId);

  EXPECT_TRUE(spool.enforce(0, in(0s))->empty()); // ages begin when they are first looked at
  EXPECT_TRUE(spool.enforce(0, in(6 * 24h))->empty());
  const auto lines = spool.enforce(0, in(8 * 24h));

  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 1U);
  EXPECT_NE((*lines)[0].find(kId), std::string::npos);
  expect_counts(spool, 1, 0, 0, 1);
}

TEST_F(SpoolTest, KeepsWhatIsSealedWhenTheWallClockSteps) {
  Spool spool = own();
  seal(spool, kId);
  ASSERT_TRUE(spool.enforce(0, in(0s)));

  for (const auto step : {365 * 24h, -365 * 24h, 24000h}) {
    EXPECT_TRUE(spool.enforce(0, wall_in(step))->empty());
  }

  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  expect_counts(spool, 1, 0, 0, 0);
}

TEST_F(SpoolTest, CountsAgesOverStartsOfTheMachine) {
  Spool spool = own();
  seal(spool, kId);
  ASSERT_TRUE(spool.enforce(0, in(0s)));
  ASSERT_TRUE(spool.enforce(0, in(6 * 24h)));
  Moment later{Moment::now().wall, {"another boot", 100}};
  EXPECT_TRUE(spool.enforce(0, later)->empty());
  later.uptime.seconds += 86400 - 100;
  EXPECT_TRUE(spool.enforce(0, later)->empty());
  later.uptime.seconds += 200;

  EXPECT_EQ(spool.enforce(0, later)->size(), 1U);
}

TEST_F(SpoolTest, SealsWhatADeadRecorderLeftAsPartial) {
  {
    Spool before = own();
    accept(before, kId);
  }
  Spool spool = own();

  const auto lines = spool.recover(now());

  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->size(), 1U);
  const auto manifest = capture::verify_bundle(spool.find(kId).directory);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  EXPECT_TRUE(manifest->partial);
  EXPECT_EQ(manifest->source.pod, "checkout-1");
  EXPECT_FALSE(manifest->partial_reason.empty());
}

// Who looked found it recording, and then unlocked: in between it was sealed.
TEST_F(SpoolTest, DoesNotSalvageWhatHasJustBeenSealed) {
  Spool spool = own();
  seal(spool, kId);

  const auto salvaged = spool.salvage(kId, "the capture's process ended");

  ASSERT_FALSE(salvaged);
  EXPECT_EQ(salvaged.error().code, base::ErrorCode::kBusy);
  EXPECT_FALSE(spool.fail(kId));
  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  expect_counts(spool, 1, 0, 0, 0);
  EXPECT_EQ(spool.counts()->count_open(OpenState::kSealed), 1U);
}

TEST_F(SpoolTest, LeavesWhatIsStillRecordedToItsRecorder) {
  Spool spool = own();
  accept(spool, kId);
  {
    const auto recorder = FileLock::try_take(spool.capture_lock(kId), {kId, "ann", ""});
    ASSERT_TRUE(recorder && *recorder);

    EXPECT_EQ(spool.salvage(kId, "because").error().code, base::ErrorCode::kBusy);
    ASSERT_TRUE(spool.recover(now()));

    EXPECT_EQ(spool.find(kId).place, Place::kIncoming);
    EXPECT_TRUE(FileLock::is_held(spool.capture_lock(kId)));
    expect_counts(spool, 1, 0, 0, 0);
  }
  EXPECT_EQ(spool.salvage_left("its recorder was killed").size(), 1U);
  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
}

// Accepted, and its directory is not made yet.
TEST_F(SpoolTest, CountsNoCaptureAsFailedWhoseRecorderLives) {
  Spool spool = own();
  const auto recorder = FileLock::try_take(spool.capture_lock(kId), {kId, "ann", ""});
  ASSERT_TRUE(recorder && *recorder);
  Ledger ledger(settings_.directory);
  ASSERT_TRUE(ledger.accept(kId, now(), 9));

  ASSERT_TRUE(spool.recover(now()));

  EXPECT_EQ(spool.counts()->count_open(OpenState::kRecording), 1U);
  expect_counts(spool, 1, 0, 0, 0);
}

TEST_F(SpoolTest, CountsACaptureWithoutASampleAsFailed) {
  {
    Spool before = own();
    ASSERT_TRUE(before.accept(draft_of(kId), kDemand, now()));
  }
  Spool spool = own();
  ASSERT_TRUE(spool.recover(now()));
  EXPECT_EQ(spool.find(kId).place, Place::kNone);
  expect_counts(spool, 1, 0, 1, 0);
}

TEST_F(SpoolTest, QuarantinesTornManifestsAndKeepsTheirBytes) {
  for (const std::string& damage :
       {std::string(), std::string(500, '\0'), std::string("{\"kind\":")}) {
    jprof::testing::TempDir directory;
    settings_.directory = directory.path();
    {
      Spool before = own();
      seal(before, kId);
    }
    ASSERT_TRUE(base::write_file_atomically(
        settings_.directory + "/sealed/" + kId + "/manifest.json", damage, 0600));
    Spool spool = own();
    ASSERT_TRUE(spool.recover(now()));
    EXPECT_EQ(spool.find(kId).place, Place::kQuarantine);
    EXPECT_EQ(*base::read_file(spool.find(kId).directory + "/profile.jprof", 9999), kRecording);
    EXPECT_EQ(spool.counts()->count_open(OpenState::kQuarantined), 1U);
  }
}

TEST_F(SpoolTest, LeavesACaptureOfANewerVersionAlone) {
  {
    Spool before = own();
    seal(before, kId);
  }
  base::Json json = capture::manifest_json(manifest_of(kId));
  json["apiVersion"] = "jprof.dev/v9";
  json["checksum"] = "sha256:" + std::string(64, '0');
  std::string text = base::dump_json(json, 2) + "\n";
  text.replace(text.rfind("sha256:") + 7, 64, base::sha256_hex(text));
  const std::string path = settings_.directory + "/sealed/" + kId + "/manifest.json";
  ASSERT_TRUE(base::write_file_atomically(path, text, 0600));

  Spool spool = own();
  ASSERT_TRUE(spool.recover(now()));

  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  EXPECT_EQ(*base::read_file(path, 9999), text);
}

TEST_F(SpoolTest, CountsFilesThatSomebodyRemoved) {
  {
    Spool before = own();
    seal(before, kId);
  }
  std::filesystem::remove_all(settings_.directory + "/sealed");
  Spool spool = own();

  const auto lines = spool.recover(now());

  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->size(), 1U);
  EXPECT_EQ(spool.counts()->abandoned, 1U);
  EXPECT_TRUE(spool.counts()->balanced());
  seal(spool, kOther); // and goes on
}

TEST_F(SpoolTest, BeginsNewBooksWhenTheLedgerIsDamagedAndForgetsNoCapture) {
  {
    Spool before = own();
    seal(before, kId);
  }
  ASSERT_TRUE(base::write_file_atomically(settings_.directory + "/ledger.json", "{", 0600));
  Spool spool = own();

  ASSERT_TRUE(spool.recover(now()));

  EXPECT_EQ(spool.find(kId).place, Place::kSealed);
  expect_counts(spool, 1, 0, 0, 0);
  EXPECT_EQ(spool.counts()->count_open(OpenState::kSealed), 1U);
}

TEST_F(SpoolTest, IgnoresStrangersAmongItsFiles) {
  {
    Spool before = own();
    seal(before, kId);
  }
  for (const char* place : {"incoming", "sealed", "done", "quarantine", "trash", "locks"}) {
    const std::string directory = settings_.directory + "/" + place;
    ASSERT_TRUE(base::write_file_atomically(directory + "/stranger", "x", 0600));
    ASSERT_EQ(::symlink("/etc", (directory + "/" + kOther).c_str()), 0);
    ASSERT_EQ(::mkfifo((directory + "/fifo").c_str(), 0600), 0);
  }
  Spool spool = own();
  ASSERT_TRUE(spool.recover(now()));
  ASSERT_TRUE(spool.enforce(0, in(1000 * 24h)));
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

TEST_F(SpoolTest, StartsSoonWithVeryManyCaptures) {
  settings_.quota = std::uint64_t{1} << 40;
  {
    Spool before = own();
    seal(before, kId);
    for (int i = 0; i < 5000; ++i) {
      char id[65];
      std::snprintf(id, sizeof id, "%064d", i);
      std::filesystem::create_directory(before.path(Place::kSealed, id));
      std::filesystem::create_hard_link(before.path(Place::kSealed, kId) + "/manifest.json",
                                        before.path(Place::kSealed, id) + "/manifest.json");
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  Spool spool = own();
  ASSERT_TRUE(spool.recover(now()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(spool.counts()->accepted, 5001U);
}

} // namespace
} // namespace jprof::spool
