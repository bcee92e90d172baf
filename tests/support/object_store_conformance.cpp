// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/object_store_conformance.h"

#include "lib/base/digest.h"

#include <thread>

namespace jprof::testing {
namespace {

using base::ErrorCode;
using store::ObjectKey;
using store::PutReceipt;

ObjectKey key(const std::string& text) {
  return ObjectKey::parse(text).value();
}

std::vector<std::string> listed(store::ObjectStore& store, const std::string& prefix) {
  std::vector<std::string> out;
  const auto status =
      store.list(prefix, [&](const ObjectKey& at, std::uint64_t bytes) -> base::Status {
        out.push_back(at.text() + ":" + std::to_string(bytes));
        return {};
      });
  EXPECT_TRUE(status.has_value()) << status.error().text();
  return out;
}

TEST_P(ObjectStoreConformance, IsThereBeforeAnythingIs) {
  const base::Status status = store_->check();

  EXPECT_TRUE(status.has_value()) << status.error().text();
}

TEST_P(ObjectStoreConformance, GivesBackWhatWasPut) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) {
    bytes += static_cast<char>(i * 7 + i / 256);
  }

  const auto receipt = put_text(*store_, key("v1/c/a=b/x.bin"), bytes, {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kCreated);
  EXPECT_NE(receipt->location.find("v1/c/a=b/x.bin"), std::string::npos);
  const auto back = get_text(*store_, key("v1/c/a=b/x.bin"), bytes.size());
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_TRUE(*back == bytes);
}

TEST_P(ObjectStoreConformance, StoresAnEmptyObject) {
  const auto receipt = put_text(*store_, key("empty"), "", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(get_text(*store_, key("empty"), 10).value(), "");
}

TEST_P(ObjectStoreConformance, KnowsSizeAndDigest) {
  ASSERT_TRUE(put_text(*store_, key("a/b"), "hello", {}).has_value());

  const auto info = store_->info(key("a/b"));

  ASSERT_TRUE(info.has_value()) << info.error().text();
  EXPECT_EQ(info->size_bytes, 5U);
  EXPECT_EQ(info->sha256, base::sha256("hello"));
}

TEST_P(ObjectStoreConformance, RecognisesItsOwnEarlierAttempt) {
  ASSERT_TRUE(put_text(*store_, key("a/b"), "hello", {}).has_value());

  const auto again = put_text(*store_, key("a/b"), "hello", {});

  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->outcome, PutReceipt::Outcome::kAlreadyThere);
}

TEST_P(ObjectStoreConformance, NeverReplacesAnObject) {
  ASSERT_TRUE(put_text(*store_, key("a/b"), "first", {}).has_value());

  for (const char* other : {"other", "longer than before", ""}) {
    const auto receipt = put_text(*store_, key("a/b"), other, {});

    ASSERT_FALSE(receipt.has_value());
    EXPECT_EQ(receipt.error().code, ErrorCode::kAlreadyExists) << receipt.error().text();
  }
  EXPECT_EQ(get_text(*store_, key("a/b"), 10).value(), "first");
}

TEST_P(ObjectStoreConformance, RefusesBytesThatChangedSinceTheyWereSealed) {
  const http::MemoryBody body("changed");

  const auto receipt = store_->put(key("a"), {body, base::sha256("sealed")}, {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kInvalidData);
  EXPECT_EQ(store_->info(key("a")).error().code, ErrorCode::kNotFound);
}

TEST_P(ObjectStoreConformance, TellsWhatIsNotThere) {
  EXPECT_EQ(store_->info(key("no/such")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(get_text(*store_, key("no/such"), 10).error().code, ErrorCode::kNotFound);
}

TEST_P(ObjectStoreConformance, ListsInOrderBelowAPrefix) {
  for (const char* name : {"v1/b/2", "v1/b/1", "v1/a.x/1", "v1/a/1", "v2/z", "v1/ab"}) {
    ASSERT_TRUE(put_text(*store_, key(name), name, {}).has_value());
  }

  EXPECT_EQ(listed(*store_, ""), (std::vector<std::string>{"v1/a.x/1:8", "v1/a/1:6", "v1/ab:5",
                                                           "v1/b/1:6", "v1/b/2:6", "v2/z:4"}));
  EXPECT_EQ(listed(*store_, "v1/b/"), (std::vector<std::string>{"v1/b/1:6", "v1/b/2:6"}));
  EXPECT_TRUE(listed(*store_, "v3/").empty());
}

TEST_P(ObjectStoreConformance, EndsAListOrATransferWhenTheCallerDoes) {
  ASSERT_TRUE(put_text(*store_, key("a"), "1", {}).has_value());
  ASSERT_TRUE(put_text(*store_, key("b"), "2", {}).has_value());
  int visits = 0;

  const auto status = store_->list("", [&](const ObjectKey&, std::uint64_t) -> base::Status {
    ++visits;
    return base::make_failure(ErrorCode::kLimit, "enough");
  });

  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(get_text(*store_, key("a"), 0).error().code, ErrorCode::kLimit);
}

TEST_P(ObjectStoreConformance, LetsOneOfManyWritersWin) {
  // Each thread has a store of its own on the same place: the race is between their requests.
  constexpr int kWriters = 8;
  std::vector<base::Result<PutReceipt>> results(
      kWriters, base::make_failure(ErrorCode::kInternal, "not run"));
  std::vector<std::unique_ptr<store::ObjectStore>> stores;
  for (int i = 0; i < kWriters; ++i) {
    stores.push_back(reopen());
  }
  {
    std::vector<std::jthread> writers;
    for (std::size_t i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        results[i] = put_text(*stores[i], key("race/x"), "writer " + std::to_string(i), {});
      });
    }
  }

  int created = 0;
  for (const auto& result : results) {
    created += result.has_value() ? 1 : 0;
    EXPECT_TRUE(result || result.error().code == ErrorCode::kAlreadyExists)
        << result.error().text();
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(get_text(*store_, key("race/x"), 100)->substr(0, 7), "writer ");
}

} // namespace
} // namespace jprof::testing
