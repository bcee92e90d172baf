// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/store/s3_store.h"
#include "tests/support/fault_server.h"

#include <gtest/gtest.h>

namespace jprof::store {
namespace {

using base::ErrorCode;
using base::Json;
using testing::FaultServer;
using namespace std::chrono_literals;

constexpr SystemSeconds kNow{std::chrono::seconds(1700000000)};

struct Under {
  std::unique_ptr<ObjectStore> store;
  std::shared_ptr<std::vector<std::chrono::milliseconds>> waits;
};

AwsKeys test_keys() {
  return {"AKTEST", base::Secret("hunter2secret"), {}};
}

Under store_at(const FaultServer& server, const S3Sizes& sizes = {},
               std::unique_ptr<CredentialsSource> credentials = static_credentials(test_keys()),
               std::chrono::milliseconds patience = {}) {
  Under out;
  out.waits = std::make_shared<std::vector<std::chrono::milliseconds>>();
  StoreUrl url = parse_store_url("s3://bucket/pre").value();
  url.endpoint = server.url();
  S3ExchangeOptions options;
  options.location = make_s3_location(url).value();
  http::ClientOptions client;
  client.plain_http = http::PlainHttp::kAllow;
  client.proxy.kind = http::ProxyOptions::Kind::kNone;
  options.client = http::make_curl_http_client(std::move(client)).value();
  options.credentials = std::move(credentials);
  options.now = [] { return kNow; };
  options.patience = patience;
  options.retry.sleep = [waits = out.waits](std::chrono::milliseconds delay,
                                            const std::stop_token&) { waits->push_back(delay); };
  out.store = make_s3_store(std::move(options), sizes);
  return out;
}

ObjectKey key(const std::string& text) {
  return ObjectKey::parse(text).value();
}

// A HEAD answer for an object with these bytes.
std::string head_of(std::string_view bytes) {
  return R"({"length":)" + std::to_string(bytes.size()) +
         R"(,"headers":{"x-amz-meta-jprof-sha256":")" + base::sha256_hex(bytes) + R"("}})";
}

std::string error_step(int status, const std::string& code, const std::string& headers = "{}") {
  return R"({"status":)" + std::to_string(status) + R"(,"headers":)" + headers +
         R"(,"body":"<Error><Code>)" + code + R"(</Code></Error>"})";
}

TEST(S3Store, CreatesOnlyAndSignsWhatItSends) {
  FaultServer server(R"([{"do":"store"}])");
  PutOptions options;
  options.content_type = "text/html";
  options.tags = {{"jprof-trigger", "manual"}};

  const auto receipt = put_text(*store_at(server).store, key("a=b/c"), "hello", options);

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->location, "s3://bucket/pre/a=b/c");
  const Json seen = server.next_request();
  const Json& headers = seen["headers"];
  EXPECT_EQ(seen["method"], "PUT");
  EXPECT_EQ(seen["target"], "/bucket/pre/a%3Db/c");
  EXPECT_EQ(seen["body"], "hello");
  EXPECT_EQ(headers["if-none-match"], "*");
  EXPECT_EQ(headers["content-type"], "text/html");
  EXPECT_EQ(headers["x-amz-tagging"], "jprof-trigger=manual");
  EXPECT_EQ(headers["x-amz-content-sha256"], base::sha256_hex("hello"));
  EXPECT_EQ(headers["x-amz-meta-jprof-sha256"], base::sha256_hex("hello"));
  EXPECT_EQ(headers["x-amz-date"], "20231114T221320Z");
  EXPECT_NE(base::json_string(headers, "authorization").find("Credential=AKTEST/20231114"),
            std::string::npos);
}

class TransientFault : public ::testing::TestWithParam<const char*> {};

TEST_P(TransientFault, IsRepeatedUntilItIsOver) {
  FaultServer server("[" + std::string(GetParam()) + "," + GetParam() + R"(,{"do":"store"}])");
  const Under under = store_at(server);

  const auto receipt = put_text(*under.store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(under.waits->size(), 2U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.next_request()["body"], "hello");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TransientFault,
    ::testing::Values(
        R"({"status":500})", R"({"status":502,"body":"<html>bad gateway"})",
        R"({"status":503,"body":"<Error><Code>SlowDown</Code></Error>"})", R"({"status":504})",
        R"({"status":429})", R"({"status":408})",
        R"({"status":400,"body":"<Error><Code>RequestTimeout</Code></Error>"})",
        R"({"status":409,"body":"<Error><Code>ConditionalRequestConflict</Code></Error>"})",
        R"({"do":"reset"})", R"({"do":"close"})", R"({"do":"cut","body":"x","length":9})"));

TEST(S3Store, GivesUpAfterTheAttemptsOfThePolicy) {
  FaultServer server(R"([{"status":503}])");
  const Under under = store_at(server);

  const auto receipt = put_text(*under.store, key("k"), "hello", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(under.waits->size(), 4U);
}

TEST(S3Store, WaitsAsLongAsTheServerAsks) {
  FaultServer server(R"([{"status":503,"headers":{"Retry-After":"20"}},{"do":"store"}])");
  const Under under = store_at(server);

  ASSERT_TRUE(put_text(*under.store, key("k"), "hello", {}).has_value());

  ASSERT_EQ(under.waits->size(), 1U);
  EXPECT_GE(under.waits->at(0), 20s);
}

TEST(S3Store, DoesNotRepeatWhatNoRepetitionMends) {
  for (const char* code : {"AccessDenied", "NoSuchBucket", "SignatureDoesNotMatch"}) {
    FaultServer server("[" + error_step(403, code) + "]");
    const Under under = store_at(server);

    const auto receipt = put_text(*under.store, key("k"), "hello", {});

    ASSERT_FALSE(receipt.has_value());
    EXPECT_FALSE(receipt.error().cure.empty());
    EXPECT_EQ(receipt.error().text().find("hunter2"), std::string::npos);
    EXPECT_TRUE(under.waits->empty());
  }
}

TEST(S3Store, RecognisesAPutWhoseAnswerWasLost) {
  FaultServer server(R"([{"do":"reset"},{"status":412},)" + head_of("hello") + "]");

  const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kAlreadyThere);
}

TEST(S3Store, RefusesOtherBytesUnderTheKey) {
  for (const char* early : {"", R"({"status":404},)"}) { // a race's winner is not seen at once
    FaultServer server(R"([{"status":412},)" + std::string(early) + head_of("other") + "]");
    const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});
    ASSERT_FALSE(receipt.has_value());
    EXPECT_EQ(receipt.error().code, ErrorCode::kAlreadyExists);
  }
}

TEST(S3Store, SaysSoWhenItMayNotCompare) {
  FaultServer server(R"([{"status":412},{"status":403}])");

  const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value());
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kThereUnchecked);
}

TEST(S3Store, LooksFirstWhereConditionsAreUnknown) {
  FaultServer server("[" + error_step(501, "NotImplemented") +
                     R"(,{"status":404},{"do":"store"}])");

  const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(server.next_request()["headers"]["if-none-match"], "*");
  EXPECT_EQ(server.next_request()["method"], "HEAD");
  EXPECT_FALSE(server.next_request()["headers"].contains("if-none-match"));
}

// What answers 200 to everything is no store: a captive portal, a proxy that has cut the body off,
// a service that keeps other bytes.
constexpr const char* kPortal = R"({"headers":{"Content-Type":"text/html"},"body":"<html>log in"})";
constexpr const char* kOtherTag = R"({"headers":{"ETag":"\"d41d8cd98f00b204e9800998ecf8427e\""}})";

TEST(S3Store, TakesNoAnswerForStoredThatDoesNotProveIt) {
  for (const std::string answer : {"{}", kPortal, kOtherTag}) {
    for (const std::string& look :
         {std::string(kPortal), std::string(R"({"status":404})"), std::string(R"({"status":403})"),
          head_of("other"), std::string(R"({"length":5})")}) {
      FaultServer server("[" + answer + "," + look + "]");

      const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

      ASSERT_FALSE(receipt.has_value()) << answer << look;
      EXPECT_EQ(receipt.error().code, ErrorCode::kUnavailable) << receipt.error().text();
      EXPECT_NE(receipt.error().text().find("stored"), std::string::npos);
    }
  }
}

TEST(S3Store, LooksAtWhatTheAnswerDoesNotProve) {
  FaultServer server("[" + std::string(kOtherTag) + "," + head_of("hello") + "]");

  const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kCreated);
  EXPECT_EQ(server.next_request()["method"], "PUT");
  EXPECT_EQ(server.next_request()["method"], "HEAD");
}

// AWS gives it back, also where a KMS makes the ETag say nothing and nobody may look.
TEST(S3Store, TakesTheChecksumThatItSentForAProof) {
  const std::string checksum = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="; // of "hello"
  FaultServer server(R"([{"headers":{"ETag":"\"0123456789abcdef0123456789abcdef\"",)"
                     R"("x-amz-checksum-sha256":")" +
                     checksum + R"("}},{"status":403}])");

  const auto receipt = put_text(*store_at(server).store, key("k"), "hello", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kCreated);
  EXPECT_EQ(server.next_request()["headers"]["x-amz-checksum-sha256"], checksum);
}

TEST(S3Store, IsCheckedByARequestThatNeedsNoRight) {
  for (const std::string& answer :
       {error_step(404, "NoSuchKey"), error_step(403, "AccessDenied")}) {
    FaultServer server("[" + answer + "]");

    const Status status = store_at(server).store->check();

    EXPECT_TRUE(status.has_value()) << status.error().text();
    const Json seen = server.next_request();
    EXPECT_EQ(seen["method"], "GET");
    EXPECT_EQ(seen["target"], "/bucket/pre/jprof-no-such-object");
  }
}

TEST(S3Store, IsRefusedByItsCheck) {
  const std::pair<std::string, ErrorCode> cases[] = {
      {error_step(403, "SignatureDoesNotMatch"), ErrorCode::kUnauthenticated},
      {error_step(403, "InvalidAccessKeyId"), ErrorCode::kUnauthenticated},
      {error_step(404, "NoSuchBucket"), ErrorCode::kNotFound},
      {R"({"status":403,"body":"<html>blocked by policy"})", ErrorCode::kForbidden},
      {R"({"status":404})", ErrorCode::kNotFound},
      {kPortal, ErrorCode::kUnavailable},
      {"{}", ErrorCode::kUnavailable}};
  for (const auto& [answer, code] : cases) {
    FaultServer server("[" + answer + "]");

    const Status status = store_at(server).store->check();

    ASSERT_FALSE(status.has_value()) << answer;
    EXPECT_EQ(status.error().code, code) << status.error().text();
    EXPECT_FALSE(status.error().cure.empty() && code != ErrorCode::kNotFound) << answer;
  }
}

TEST(S3Store, GivesUpAServerThatIsSilent) {
  FaultServer server(R"([{"do":"stall"}])");
  const auto begin = std::chrono::steady_clock::now();

  const auto receipt = put_text(
      *store_at(server, {}, static_credentials(test_keys()), 1500ms).store, key("k"), "hello", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s); // 30 s and five attempts without it
}

TEST(S3Store, LearnsTheServersClockOnce) {
  // 30 minutes ahead of kNow.
  const std::string skewed =
      error_step(403, "RequestTimeTooSkewed", R"({"Date":"Tue, 14 Nov 2023 22:43:20 GMT"})");
  FaultServer server("[" + skewed + R"(,{"do":"store"},)" + skewed + "]");
  const Under under = store_at(server);

  ASSERT_TRUE(put_text(*under.store, key("k"), "hello", {}).has_value());
  const auto second = put_text(*under.store, key("l"), "hello", {});

  EXPECT_EQ(server.next_request()["headers"]["x-amz-date"], "20231114T221320Z");
  EXPECT_EQ(server.next_request()["headers"]["x-amz-date"], "20231114T224320Z");
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().cure.find("clock"), std::string::npos);
}

TEST(S3Store, LearnsTheBucketsRegionOnce) {
  FaultServer server(
      "[" +
      error_step(400, "AuthorizationHeaderMalformed", R"({"x-amz-bucket-region":"eu-west-1"})") +
      R"(,{"do":"store"}])");

  ASSERT_TRUE(put_text(*store_at(server).store, key("k"), "hello", {}).has_value());

  (void)server.next_request();
  EXPECT_NE(base::json_string(server.next_request()["headers"], "authorization")
                .find("/eu-west-1/s3/aws4_request"),
            std::string::npos);
}

TEST(S3Store, AsksForKeysAgainWhenTheyExpired) {
  class Rotating final : public CredentialsSource {
   public:
    Result<AwsKeys> keys() override {
      return AwsKeys{"AK" + std::to_string(++calls_), base::Secret("s"), base::Secret("t")};
    }

   private:
    int calls_ = 0;
  };
  FaultServer server("[" + error_step(400, "ExpiredToken") + R"(,{"do":"store"}])");

  ASSERT_TRUE(
      put_text(*store_at(server, {}, std::make_unique<Rotating>()).store, key("k"), "hello", {})
          .has_value());

  (void)server.next_request();
  EXPECT_NE(base::json_string(server.next_request()["headers"], "authorization").find("AK2/"),
            std::string::npos);
}

TEST(S3Store, RefusesAnswersThatAreNoS3) {
  for (const char* step :
       {R"({"do":"garbage"})", R"({"do":"endless"})", R"({"body":"<html>welcome to the hotel"})"}) {
    FaultServer server("[" + std::string(step) + "]");

    const auto status = store_at(server).store->list(
        "", [](const ObjectKey&, std::uint64_t) -> Status { return {}; });

    ASSERT_FALSE(status.has_value()) << step;
  }
}

TEST(S3Store, ResumesATransferWithoutDoublingBytes) {
  FaultServer server(R"([{"do":"cut","body":"hello","length":11},{"body":"hello world"}])");

  const auto text = get_text(*store_at(server).store, key("k"), 100);

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "hello world");
}

TEST(S3Store, ListsPageByPage) {
  FaultServer server(
      R"([{"body":"<ListBucketResult xmlns='x'><IsTruncated>true</IsTruncated>)"
      R"(<NextContinuationToken>a+b/c=</NextContinuationToken>)"
      R"(<Contents><Key>pre/a</Key><Size>1</Size></Contents>)"
      R"(<Contents><Key>pre/no key of ours</Key><Size>1</Size></Contents></ListBucketResult>"},)"
      R"({"body":"<ListBucketResult><Contents><Key>pre/b/c</Key><Size>22</Size></Contents>)"
      R"(<IsTruncated>false</IsTruncated></ListBucketResult>"}])");
  std::vector<std::string> seen;

  const auto status =
      store_at(server).store->list("x/", [&](const ObjectKey& at, std::uint64_t bytes) -> Status {
        seen.push_back(at.text() + ":" + std::to_string(bytes));
        return {};
      });

  ASSERT_TRUE(status.has_value()) << status.error().text();
  EXPECT_EQ(seen, (std::vector<std::string>{"a:1", "b/c:22"}));
  EXPECT_EQ(server.next_request()["target"], "/bucket?list-type=2&prefix=pre%2Fx%2F");
  EXPECT_EQ(server.next_request()["target"],
            "/bucket?list-type=2&prefix=pre%2Fx%2F&continuation-token=a%2Bb%2Fc%3D");
}

TEST(S3Store, NoticesAListThatDoesNotEnd) {
  FaultServer server(R"([{"body":"<ListBucketResult><IsTruncated>true</IsTruncated>)"
                     R"(<NextContinuationToken>x</NextContinuationToken></ListBucketResult>"}])");

  const auto status = store_at(server).store->list(
      "", [](const ObjectKey&, std::uint64_t) -> Status { return {}; });

  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kProtocol);
}

constexpr const char* kCreated =
    R"({"body":"<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>"})";
constexpr const char* kPart = R"({"do":"store"})";
constexpr const char* kCompleted = R"({"do":"complete"})";
// As a KMS has them: tags that are no digests.
constexpr const char* kStrangePart = R"({"headers":{"ETag":"\"tag\""}})";
constexpr const char* kStrangelyCompleted =
    R"({"body":"<CompleteMultipartUploadResult><ETag>x-2</ETag></CompleteMultipartUploadResult>"})";

std::string steps(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& one : all) {
    out += (out.empty() ? "[" : ",") + one;
  }
  return out + "]";
}

const std::string kMd5Of89 = "7647966b7343c29048673252e490f736"; // md5sum of "89"

TEST(S3Store, SendsALargeObjectInParts) {
  FaultServer server(steps({kCreated, kPart, kPart, kPart, kCompleted}));
  const Under under = store_at(server, {.part_bytes = 4, .max_parts = 10});

  const auto receipt = put_text(*under.store, key("k"), "0123456789", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  const Json create = server.next_request();
  EXPECT_EQ(create["target"], "/bucket/pre/k?uploads=");
  EXPECT_EQ(create["headers"]["x-amz-meta-jprof-sha256"], base::sha256_hex("0123456789"));
  for (const char* part : {"0123", "4567", "89"}) {
    const Json seen = server.next_request();
    EXPECT_EQ(seen["body"], part);
    EXPECT_EQ(seen["headers"]["x-amz-content-sha256"], base::sha256_hex(part));
  }
  const Json complete = server.next_request();
  EXPECT_EQ(complete["target"], "/bucket/pre/k?uploadId=u%2F1");
  EXPECT_EQ(complete["headers"]["if-none-match"], "*");
  EXPECT_NE(base::json_string(complete, "body")
                .find("<PartNumber>3</PartNumber><ETag>&quot;" + kMd5Of89 + "&quot;</ETag>"),
            std::string::npos);
}

TEST(S3Store, TakesNoUploadInPartsForStoredThatDoesNotProveIt) {
  const std::string bytes = "0123456789";
  const auto put_with = [&](const std::string& part, const std::string& end,
                            const std::string& look) {
    FaultServer server(steps({kCreated, part, part, end, look}));
    return put_text(*store_at(server, {.part_bytes = 5, .max_parts = 10}).store, key("k"), bytes,
                    {});
  };
  EXPECT_TRUE(put_with(kStrangePart, kStrangelyCompleted, head_of(bytes)).has_value());
  EXPECT_TRUE(put_with(kPart, kStrangelyCompleted, head_of(bytes)).has_value());
  EXPECT_EQ(put_with(kStrangePart, kStrangelyCompleted, R"({"status":403})")->outcome,
            PutReceipt::Outcome::kThereUnchecked);
  for (const std::string& look :
       {std::string(kPortal), std::string(R"({"status":404})"), head_of("0123456780x")}) {
    const auto receipt = put_with(kPart, kStrangelyCompleted, look);
    ASSERT_FALSE(receipt.has_value()) << look;
    EXPECT_EQ(receipt.error().code, ErrorCode::kUnavailable);
  }
}

TEST(S3Store, RepeatsAPartOnly) {
  FaultServer server(steps({kCreated, kPart, R"({"do":"reset"})", kPart, kCompleted}));
  const Under under = store_at(server, {.part_bytes = 5, .max_parts = 10});

  ASSERT_TRUE(put_text(*under.store, key("k"), "0123456789", {}).has_value());

  // By libcurl at once where the connection had served before, else by us after a wait.
  EXPECT_NE(server.next_request()["target"], server.next_request()["target"]); // create, part 1
  EXPECT_EQ(server.next_request()["body"], "56789");
  EXPECT_EQ(server.next_request()["body"], "56789");
  EXPECT_EQ(server.next_request()["target"], "/bucket/pre/k?uploadId=u%2F1");
}

TEST(S3Store, TreatsAnErrorInsideA200AsAFailureAndRepeats) {
  FaultServer server(steps({kCreated, kPart, kPart, error_step(200, "InternalError"), kCompleted}));
  const Under under = store_at(server, {.part_bytes = 5, .max_parts = 10});

  const auto receipt = put_text(*under.store, key("k"), "0123456789", {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kCreated);
  EXPECT_EQ(under.waits->size(), 1U);
}

TEST(S3Store, FindsAnUploadWhoseCompletionWasNotAnswered) {
  const std::string gone = error_step(404, "NoSuchUpload");
  const std::string bytes = "0123456789";
  FaultServer server(
      steps({kCreated, kPart, kPart, R"({"do":"close"})", gone, head_of(bytes), head_of(bytes)}));
  const Under under = store_at(server, {.part_bytes = 5, .max_parts = 10});

  const auto receipt = put_text(*under.store, key("k"), bytes, {});

  ASSERT_TRUE(receipt.has_value()) << receipt.error().text();
  EXPECT_EQ(receipt->outcome, PutReceipt::Outcome::kAlreadyThere);
}

TEST(S3Store, AbortsAnUploadThatFails) {
  FaultServer server(steps({kCreated, error_step(403, "AccessDenied"), R"({"status":204})"}));
  const Under under = store_at(server, {.part_bytes = 5, .max_parts = 10});

  EXPECT_EQ(put_text(*under.store, key("k"), "0123456789", {}).error().code, ErrorCode::kForbidden);

  (void)server.next_request();
  (void)server.next_request();
  const Json abort = server.next_request();
  EXPECT_EQ(abort["method"], "DELETE");
  EXPECT_EQ(abort["target"], "/bucket/pre/k?uploadId=u%2F1");
}

} // namespace
} // namespace jprof::store
