// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The S3 store against a real server that checks signatures; started by with_s3_gateway.py.
#include "lib/base/check.h"
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/store/s3_location.h"
#include "lib/store/s3_store.h"
#include "lib/store/sigv4.h"
#include "lib/store/store_factory.h"
#include "tests/support/object_store_conformance.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace jprof {
namespace {

using base::ErrorCode;
using store::ObjectStore;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  JPROF_CHECK(value != nullptr);
  return value;
}

store::StoreUrl plain_url(const std::string& prefix) {
  return store::parse_store_url("s3://" + variable("JPROF_TEST_S3_BUCKET") + "/" + prefix +
                                "?endpoint=" + variable("JPROF_TEST_S3"))
      .value();
}

store::StoreOptions quick() {
  store::StoreOptions options;
  options.proxy.kind = http::ProxyOptions::Kind::kNone;
  options.retry.attempts = 3;
  return options;
}

std::unique_ptr<ObjectStore> open(const store::StoreUrl& url,
                                  store::StoreOptions options = quick()) {
  auto opened = store::make_object_store(url, std::move(options));
  JPROF_CHECK(opened.has_value());
  return std::move(*opened);
}

std::unique_ptr<ObjectStore> open_plain(const std::string& place) {
  return open(plain_url(place));
}

std::unique_ptr<ObjectStore> open_virtual_host_over_tls(const std::string& place) {
  const auto url =
      store::parse_store_url("s3://" + variable("JPROF_TEST_S3_BUCKET") + "/" + place +
                             "?addressing=virtual&endpoint=" + variable("JPROF_TEST_S3_TLS"));
  store::StoreOptions options = quick();
  options.tls.ca_file = variable("JPROF_TEST_S3_CA");
  return open(url.value(), std::move(options));
}

store::ObjectKey key(const std::string& text) {
  return store::ObjectKey::parse(text).value();
}

TEST(S3Gateway, RefusesAWrongSecret) {
  const testing::TempDir mount;
  ASSERT_TRUE(base::write_file_atomically(mount.path() + "/access-key-id",
                                          variable("AWS_ACCESS_KEY_ID"), 0600)
                  .has_value());
  ASSERT_TRUE(
      base::write_file_atomically(mount.path() + "/secret-access-key", "wrong", 0600).has_value());
  store::StoreOptions options = quick();
  options.credentials_path = mount.path();

  const auto receipt =
      put_text(*open(plain_url("wrong-secret"), std::move(options)), key("a"), "x", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kUnauthenticated) << receipt.error().text();
}

TEST(S3Gateway, NamesABucketThatIsNotThere) {
  store::StoreUrl url = plain_url("x");
  url.bucket = "no-such-bucket";

  const auto receipt = put_text(*open(url), key("a"), "x", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kNotFound) << receipt.error().text();
  EXPECT_NE(receipt.error().cure.find("bucket"), std::string::npos);
}

TEST(S3Gateway, SignsPrefixesAndKeysWithEveryKindOfCharacter) {
  const auto store = open(plain_url("team=a+b/(x)!,:@$'~*;"));

  ASSERT_TRUE(put_text(*store, key("v1/a=b/c_d-e.f"), "x", {}).has_value());

  EXPECT_EQ(get_text(*store, key("v1/a=b/c_d-e.f"), 10).value(), "x");
}

TEST(S3Gateway, SetsTags) {
  store::PutOptions options;
  options.tags = {{"jprof-trigger", "manual"}, {"other", "a=b"}};

  const auto receipt = put_text(*open_plain("tags"), key("a"), "x", options);

  EXPECT_TRUE(receipt.has_value()) << receipt.error().text();
}

TEST(S3Gateway, TakesALargeFileInPartsAndNeverTwice) {
  std::string bytes(std::size_t{17} * 1024 * 1024 + 123, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i * 31 + i / 65536);
  }
  const auto store = open_plain("large");

  const auto created = put_text(*store, key("x"), bytes, {});
  const auto again = put_text(*store, key("x"), bytes, {});
  bytes[0] = '!';
  const auto other = put_text(*store, key("x"), bytes, {});
  bytes[0] = '\0';

  ASSERT_TRUE(created.has_value()) << created.error().text();
  EXPECT_EQ(created->outcome, store::PutReceipt::Outcome::kCreated);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->outcome, store::PutReceipt::Outcome::kAlreadyThere);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(get_text(*store, key("x"), bytes.size()).value() == bytes);
}

TEST(S3Gateway, ListsMoreThanAPage) {
  const auto store = open_plain("pages");
  for (int i = 0; i < 1005; ++i) {
    ASSERT_TRUE(put_text(*store, key("k" + std::to_string(10000 + i)), "", {}).has_value());
  }
  int seen = 0;

  const auto status = store->list("", [&](const store::ObjectKey& at, std::uint64_t) {
    EXPECT_EQ(at.text(), "k" + std::to_string(10000 + seen));
    ++seen;
    return base::Status();
  });

  ASSERT_TRUE(status.has_value()) << status.error().text();
  EXPECT_EQ(seen, 1005);
}

TEST(S3Gateway, AcceptsAPresignedPutOnce) {
  const auto location = store::make_s3_location(plain_url("presigned")).value();
  const store::AwsKeys keys{
      variable("AWS_ACCESS_KEY_ID"), base::Secret(variable("AWS_SECRET_ACCESS_KEY")), {}};
  const store::SignableRequest wanted{
      "PUT", location.object_url("a=b/c"), {{"If-None-Match", "*"}}, {}};
  http::ClientOptions options;
  options.plain_http = http::PlainHttp::kAllow;
  options.proxy.kind = http::ProxyOptions::Kind::kNone;
  const auto client = http::make_curl_http_client(std::move(options)).value();
  const http::MemoryBody body("presigned bytes");
  http::HttpRequest request;
  request.method = "PUT";
  request.headers = wanted.headers;
  request.body = &body;
  request.url =
      presign_sigv4(wanted, keys, {location.region, "s3"},
                    std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()),
                    std::chrono::minutes(5));

  EXPECT_EQ(client->send(request).value().status, 200);
  EXPECT_EQ(client->send(request).value().status, 412);
  EXPECT_EQ(get_text(*open_plain("presigned"), key("a=b/c"), 100).value(), "presigned bytes");
}

TEST(S3Gateway, DoesNotTrustAnUnknownAuthority) {
  const auto url = store::parse_store_url("s3://" + variable("JPROF_TEST_S3_BUCKET") +
                                          "/x?endpoint=" + variable("JPROF_TEST_S3_TLS"));

  const auto receipt = put_text(*open(url.value()), key("a"), "x", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kProtocol) << receipt.error().text();
}

} // namespace
} // namespace jprof

namespace jprof::testing {

INSTANTIATE_TEST_SUITE_P(S3, ObjectStoreConformance,
                         ::testing::Values(StoreUnderTest{"PathStyle", &open_plain},
                                           StoreUnderTest{"VirtualHostOverTls",
                                                          &open_virtual_host_over_tls}),
                         store_name);

} // namespace jprof::testing
