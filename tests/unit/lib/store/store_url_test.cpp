// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/object_key.h"
#include "lib/store/s3_location.h"
#include "lib/store/store_url.h"

#include <gtest/gtest.h>

namespace jprof::store {
namespace {

using base::ErrorCode;

TEST(StoreUrl, ReadsADirectory) {
  const auto url = parse_store_url("file:///var/profiles/");

  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->kind, StoreUrl::Kind::kFile);
  EXPECT_EQ(url->directory, "/var/profiles");
  EXPECT_EQ(url->to_string(), "file:///var/profiles");
}

TEST(StoreUrl, ReadsABucketWithAllParameters) {
  const auto url = parse_store_url(
      "s3://bucket/team/a=b/?region=eu-west-1&endpoint=http://127.0.0.1:9000&addressing=virtual");

  ASSERT_TRUE(url.has_value()) << url.error().text();
  EXPECT_EQ(url->kind, StoreUrl::Kind::kS3);
  EXPECT_EQ(url->bucket, "bucket");
  EXPECT_EQ(url->prefix, "team/a=b");
  EXPECT_EQ(url->region, "eu-west-1");
  EXPECT_EQ(url->endpoint->to_string(), "http://127.0.0.1:9000/");
  EXPECT_EQ(url->addressing, Addressing::kVirtualHost);
  EXPECT_EQ(url->to_string(), "s3://bucket/team/a=b");
}

TEST(StoreUrl, RefusesTheRestWithACure) {
  for (const char* text : {"",
                           "/tmp",
                           "bucket/x",
                           "file://host/dir",
                           "file://",
                           "file:///a/../b",
                           "file:///a//b",
                           "s3://",
                           "s3://ab",
                           "s3://a..b",
                           "s3://bu cket",
                           "s3://bucket/../x",
                           "s3://bucket//x",
                           "s3://bucket/a b",
                           "s3://key:secret@bucket/x",
                           "s3://bucket?zone=x",
                           "s3://bucket?region=",
                           "s3://bucket?region=A/B",
                           "s3://bucket?endpoint=host",
                           "s3://bucket?addressing=dns",
                           "s3://bucket?endpoint=https://h/path",
                           "ftp://x/y",
                           "gs://bucket/x",
                           "az://x/y"}) {
    const auto url = parse_store_url(text);

    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kUsage) << text;
  }
  EXPECT_NE(parse_store_url("gs://bucket/x").error().text().find("s3://"), std::string::npos);
  EXPECT_EQ(parse_store_url("s3://key:hunter2@bucket").error().text().find("hunter2"),
            std::string::npos);
}

TEST(ObjectKey, TakesSafeSegmentsOnly) {
  EXPECT_TRUE(ObjectKey::parse("v1/c-1/ns/Deployment.web/2026/11/21/x_y=z.html").has_value());
  EXPECT_TRUE(ObjectKey::parse("..a/...").has_value());
  for (const std::string& text :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string("a/.."), std::string("../a"), std::string("a b"), std::string("a\n"),
        std::string("a\0b", 3), std::string("\xc3\xa4"), std::string(129, 'a'),
        std::string("a~")}) {
    EXPECT_FALSE(ObjectKey::parse(text).has_value()) << text;
  }
  std::string longest(100, 'a');
  for (int i = 0; i < 7; ++i) {
    longest += "/" + std::string(100, 'b');
  }
  EXPECT_TRUE(ObjectKey::parse(longest + "/" + std::string(92, 'c')).has_value());
  EXPECT_FALSE(ObjectKey::parse(longest + "/" + std::string(93, 'c')).has_value());
}

S3Location location(const std::string& url) {
  return make_s3_location(parse_store_url(url).value()).value();
}

TEST(S3Location, PutsTheBucketWhereTheServiceWantsIt) {
  EXPECT_EQ(location("s3://bucket/p").object_url("a/b=c").to_string(),
            "https://bucket.s3.us-east-1.amazonaws.com/p/a/b%3Dc");
  EXPECT_EQ(location("s3://bucket?region=cn-north-1").bucket_url().to_string(),
            "https://bucket.s3.cn-north-1.amazonaws.com.cn/");
  EXPECT_EQ(location("s3://b.with.dots/p").object_url("k").to_string(),
            "https://s3.us-east-1.amazonaws.com/b.with.dots/p/k");
  EXPECT_EQ(location("s3://bucket?endpoint=http://minio:9000").object_url("k").to_string(),
            "http://minio:9000/bucket/k");
  EXPECT_EQ(location("s3://bucket?endpoint=http://minio:9000&addressing=virtual")
                .object_url("k")
                .to_string(),
            "http://bucket.minio:9000/k");
}

TEST(S3Location, RefusesAHostNameThatNoCertificateCovers) {
  const auto url = parse_store_url("s3://b.with.dots?addressing=virtual");

  EXPECT_EQ(make_s3_location(*url).error().code, ErrorCode::kUsage);
}

TEST(S3Location, MovesToAnotherRegionOfAwsOnly) {
  S3Location aws = location("s3://bucket");
  S3Location own = location("s3://bucket?endpoint=https://s3.example.com");

  aws.move_to_region("eu-central-1");
  own.move_to_region("eu-central-1");

  EXPECT_EQ(aws.bucket_url().host, "bucket.s3.eu-central-1.amazonaws.com");
  EXPECT_EQ(own.bucket_url().host, "s3.example.com");
  EXPECT_EQ(own.region, "eu-central-1");
}

} // namespace
} // namespace jprof::store
