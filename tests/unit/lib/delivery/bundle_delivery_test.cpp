// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/capture/bundle.h"
#include "lib/delivery/bundle_delivery.h"
#include "lib/store/store_factory.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace jprof::delivery {
namespace {

// A store whose caller may write and not read: what is there cannot be compared.
class WriteOnlyStore : public store::ObjectStore {
 public:
  explicit WriteOnlyStore(store::ObjectStore& store) : store_(store) {}

  store::Status check() override { return store_.check(); }
  store::Result<store::PutReceipt> put(const store::ObjectKey& key, const store::Content& content,
                                       const store::PutOptions& options) override {
    auto receipt = store_.put(key, content, options);
    if (receipt && receipt->outcome == store::PutReceipt::Outcome::kAlreadyThere) {
      receipt->outcome = store::PutReceipt::Outcome::kThereUnchecked;
    }
    return receipt;
  }
  store::Result<store::ObjectInfo> info(const store::ObjectKey& key) override {
    return store_.info(key);
  }
  store::Status get(const store::ObjectKey& key,
                    const std::function<store::Status(std::string_view)>& sink) override {
    return store_.get(key, sink);
  }
  store::Status list(const std::string& prefix,
                     const std::function<store::Status(const store::ObjectKey&, std::uint64_t)>&
                         visitor) override {
    return store_.list(prefix, visitor);
  }
  std::string describe() const override { return store_.describe(); }

 private:
  store::ObjectStore& store_;
};

class BundleDelivery : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_.path() + "/bucket");
    std::filesystem::create_directory(bundle_);
    capture::Manifest manifest;
    manifest.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    manifest.request_time = "2026-11-21T10:00:00Z";
    manifest.files = {{"profile.jprof", "jprof", 9, base::sha256_hex("recording")}};
    ASSERT_TRUE(base::write_file_atomically(bundle_ + "/profile.jprof", "recording", 0600));
    ASSERT_TRUE(capture::commit_bundle(bundle_, manifest));
    const auto url = store::parse_store_url("file://" + directory_.path() + "/bucket");
    store_ = store::make_object_store(*url, {}).value();
  }

  jprof::testing::TempDir directory_;
  std::string bundle_ = directory_.path() + "/bundle";
  std::unique_ptr<store::ObjectStore> store_;
};

TEST_F(BundleDelivery, SaysWhatWasThereAlready) {
  const auto first = deliver_bundle(*store_, bundle_);
  const auto second = deliver_bundle(*store_, bundle_);

  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->already_there);
  EXPECT_TRUE(second->already_there);
  EXPECT_EQ(first->note + second->note, "");
}

TEST_F(BundleDelivery, SaysWhatCouldNotBeCompared) {
  WriteOnlyStore write_only(*store_);
  ASSERT_TRUE(deliver_bundle(write_only, bundle_));

  const auto again = deliver_bundle(write_only, bundle_);

  ASSERT_TRUE(again);
  EXPECT_TRUE(again->note.starts_with("2 objects could not be compared with what the store has"))
      << again->note;
}

} // namespace
} // namespace jprof::delivery
