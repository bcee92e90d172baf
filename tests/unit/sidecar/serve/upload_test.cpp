// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/capture/bundle.h"
#include "sidecar/serve/upload.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace jprof::serve {
namespace {

class UploadTest : public ::testing::Test {
 protected:
  UploadTest() : spool_(make_spool()) {
    bucket_ = directory_.path() + "/bucket";
    std::filesystem::create_directory(bucket_);
  }
  spool::Spool make_spool() {
    config::SpoolSettings settings;
    settings.directory = directory_.path() + "/spool";
    return std::move(*spool::Spool::own(settings));
  }
  void seal(const std::string& id) {
    capture::Manifest manifest;
    manifest.id = id;
    manifest.request_time = "2026-11-21T10:00:00Z";
    const auto path = spool_.accept(manifest, {.bytes = 1000, .captures_per_hour = 99},
                                    std::chrono::system_clock::now());
    ASSERT_TRUE(path);
    ASSERT_TRUE(base::write_file_atomically(*path + "/profile.jprof", "recording", 0600));
    manifest.files = {{"profile.jprof", "jprof", 9, base::sha256_hex("recording")}};
    ASSERT_TRUE(spool_.seal(id, manifest));
  }
  std::unique_ptr<store::ObjectStore> store() {
    config::StoreSettings settings;
    settings.url = "file://" + bucket_;
    return std::move(*open_store(settings, {}));
  }
  std::vector<std::string> manifests() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bucket_)) {
      if (entry.path().filename() == "manifest.json") {
        out.push_back(entry.path().parent_path());
      }
    }
    return out;
  }

  jprof::testing::TempDir directory_;
  std::string bucket_;
  spool::Spool spool_;
};

const std::string kId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const std::string kOther = "01ARZ3NDEKTSV4RRFFQ69G5FAW";

TEST_F(UploadTest, DeliversEachSealedCaptureWhole) {
  seal(kId);
  seal(kOther);

  EXPECT_EQ(deliver_pending(spool_, *store()), UploadResult::kAllDelivered);

  ASSERT_EQ(manifests().size(), 2U);
  EXPECT_TRUE(capture::verify_bundle(manifests()[0]));
  EXPECT_EQ(spool_.counts()->delivered, 2U);
}

TEST_F(UploadTest, IsSatisfiedWithWhatAnEarlierAttemptLeft) {
  seal(kId);
  ASSERT_EQ(deliver_pending(spool_, *store()), UploadResult::kAllDelivered);
  // As after a crash between the store's confirmation and the move.
  std::filesystem::rename(spool_.path(spool::Place::kDone, kId),
                          spool_.path(spool::Place::kSealed, kId));

  EXPECT_EQ(deliver_pending(spool_, *store()), UploadResult::kAllDelivered);

  EXPECT_EQ(manifests().size(), 1U);
  EXPECT_EQ(spool_.find(kId).place, spool::Place::kDone);
}

TEST_F(UploadTest, QuarantinesDamageAndDeliversTheRest) {
  seal(kId);
  seal(kOther);
  ASSERT_TRUE(base::write_file_atomically(spool_.find(kId).directory + "/profile.jprof",
                                          "recordinf", 0600));

  EXPECT_EQ(deliver_pending(spool_, *store()), UploadResult::kAllDelivered);

  EXPECT_EQ(manifests().size(), 1U);
  EXPECT_EQ(spool_.find(kId).place, spool::Place::kQuarantine);
  EXPECT_TRUE(spool_.counts()->balanced());
}

TEST_F(UploadTest, KeepsWhatAStoreDoesNotTake) {
  seal(kId);
  std::filesystem::remove(bucket_);
  ASSERT_TRUE(base::write_file_atomically(bucket_, "no directory", 0600));

  EXPECT_NE(deliver_pending(spool_, *store()), UploadResult::kAllDelivered);

  EXPECT_EQ(spool_.find(kId).place, spool::Place::kSealed);
  EXPECT_TRUE(capture::verify_bundle(spool_.find(kId).directory));
}

// A store that may be written to and not looked at: what has the key already cannot be compared.
class WriteOnlyStore final : public store::ObjectStore {
 public:
  explicit WriteOnlyStore(store::ObjectStore& inner) : inner_(inner) {}
  base::Result<store::PutReceipt> put(const store::ObjectKey& key, const store::Content& content,
                                      const store::PutOptions& options) override {
    auto receipt = inner_.put(key, content, options);
    const bool taken = receipt ? receipt->outcome == store::PutReceipt::Outcome::kAlreadyThere
                               : receipt.error().code == base::ErrorCode::kAlreadyExists;
    return taken ? store::PutReceipt{store::PutReceipt::Outcome::kThereUnchecked, key.text()}
                 : receipt;
  }
  base::Result<store::ObjectInfo> info(const store::ObjectKey&) override {
    return base::make_failure(base::ErrorCode::kForbidden, "no");
  }
  base::Status get(const store::ObjectKey&,
                   const std::function<base::Status(std::string_view)>&) override {
    return base::make_failure(base::ErrorCode::kForbidden, "no");
  }
  base::Status
  list(const std::string&,
       const std::function<base::Status(const store::ObjectKey&, std::uint64_t)>&) override {
    return base::make_failure(base::ErrorCode::kForbidden, "no");
  }
  base::Status check() override { return inner_.check(); }
  std::string describe() const override { return inner_.describe(); }

 private:
  store::ObjectStore& inner_;
};

TEST_F(UploadTest, KeepsWhatItCannotTellFromAnothersObject) {
  seal(kId);
  const auto files = store();
  WriteOnlyStore write_only(*files);
  ASSERT_EQ(deliver_pending(spool_, write_only), UploadResult::kAllDelivered); // all of it is new
  std::filesystem::rename(spool_.path(spool::Place::kDone, kId),
                          spool_.path(spool::Place::kSealed, kId));
  const std::string recording = manifests().at(0) + "/profile.jprof";
  ASSERT_TRUE(base::write_file_atomically(recording, "another's", 0600));

  EXPECT_EQ(deliver_pending(spool_, write_only), UploadResult::kBlocked);

  EXPECT_EQ(spool_.find(kId).place, spool::Place::kSealed);
  EXPECT_TRUE(capture::verify_bundle(spool_.find(kId).directory));
}

// The store takes all but one: as where a key is refused by a policy, or an object by its size.
class RefusingStore final : public store::ObjectStore {
 public:
  using Which = std::function<bool(const std::string& key)>;
  RefusingStore(store::ObjectStore& inner, Which refused, base::ErrorCode code)
      : inner_(inner), refused_(std::move(refused)), code_(code) {}
  base::Result<store::PutReceipt> put(const store::ObjectKey& key, const store::Content& content,
                                      const store::PutOptions& options) override {
    ++puts;
    if (refused_(key.text())) {
      return base::make_failure(code_, "refused");
    }
    return inner_.put(key, content, options);
  }
  base::Result<store::ObjectInfo> info(const store::ObjectKey& key) override {
    return inner_.info(key);
  }
  base::Status get(const store::ObjectKey& key,
                   const std::function<base::Status(std::string_view)>& sink) override {
    return inner_.get(key, sink);
  }
  base::Status list(
      const std::string& prefix,
      const std::function<base::Status(const store::ObjectKey&, std::uint64_t)>& visitor) override {
    return inner_.list(prefix, visitor);
  }
  base::Status check() override { return inner_.check(); }
  std::string describe() const override { return inner_.describe(); }

  int puts = 0;

 private:
  store::ObjectStore& inner_;
  Which refused_;
  base::ErrorCode code_;
};

bool any(const std::string&) {
  return true;
}

TEST_F(UploadTest, DeliversTheOthersThoughOneIsRefused) {
  for (const base::ErrorCode code : {base::ErrorCode::kForbidden, base::ErrorCode::kUnavailable}) {
    const bool passes = code == base::ErrorCode::kUnavailable;
    const std::string first(64, passes ? 'a' : 'c'); // the oldest
    const std::string second(64, passes ? 'b' : 'd');
    seal(first);
    seal(second);
    const auto files = store();
    RefusingStore refusing(
        *files, [&](const std::string& key) { return key.find(first) != std::string::npos; }, code);

    EXPECT_EQ(deliver_pending(spool_, refusing),
              passes ? UploadResult::kRetry : UploadResult::kBlocked);

    EXPECT_EQ(spool_.find(first).place, spool::Place::kSealed);
    EXPECT_EQ(spool_.find(second).place, spool::Place::kDone);
    ASSERT_EQ(deliver_pending(spool_, *files), UploadResult::kAllDelivered);
  }
}

TEST_F(UploadTest, LeavesAStoreAloneThatTakesNothing) {
  for (int i = 0; i < 40; ++i) {
    seal(std::to_string(i) + std::string(i < 10 ? 63 : 62, 'e'));
  }
  const auto files = store();
  RefusingStore away(*files, any, base::ErrorCode::kUnavailable);
  EXPECT_EQ(deliver_pending(spool_, away), UploadResult::kRetry);
  EXPECT_EQ(away.puts, 3);
  RefusingStore closed(*files, any, base::ErrorCode::kForbidden);
  EXPECT_EQ(deliver_pending(spool_, closed), UploadResult::kBlocked);
  EXPECT_EQ(closed.puts, 30);
}

TEST_F(UploadTest, ComesToEachCaptureHoweverManyFail) {
  for (int i = 0; i < 6; ++i) {
    seal(std::string(64, static_cast<char>('0' + i)));
  }
  const std::string last(64, '6');
  seal(last);
  const auto files = store();
  RefusingStore away(
      *files, [&](const std::string& key) { return key.find(last) == std::string::npos; },
      base::ErrorCode::kUnavailable);

  constexpr int kMany = 1000; // each finds it by 3 of 7
  for (int i = 0; i < kMany && spool_.find(last).place == spool::Place::kSealed; ++i) {
    EXPECT_EQ(deliver_pending(spool_, away, Round::kAfterFailure), UploadResult::kRetry);
  }
  EXPECT_EQ(spool_.find(last).place, spool::Place::kDone);
}

TEST(OpenStore, WantsCredentialsFromAFile) {
  config::StoreSettings settings;
  settings.url = "s3://bucket/prefix";
  const auto store = open_store(settings, {});
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().cure.find("store.credentials"), std::string::npos);
}

} // namespace
} // namespace jprof::serve
