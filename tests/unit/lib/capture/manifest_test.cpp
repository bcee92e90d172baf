// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/capture/manifest.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  manifest.trigger = "manual";
  manifest.requester = "ann";
  manifest.cause = "slow \"checkout\"\n\xf0\x9f\x90\xa2";
  manifest.request_time = "2026-11-21T10:00:00Z";
  manifest.start_time = "2026-11-21T10:00:01Z";
  manifest.source = {"c1",  "shop",       "checkout-1", "uid", "",
                     "app", "Deployment", "checkout",   "",    ""};
  manifest.files = {{"profile.jprof", "jprof", 10, base::sha256_hex("x")},
                    {"flamegraph.html", "html", 20, base::sha256_hex("y")}};
  manifest.partial = true;
  manifest.partial_reason = "the JVM ended";
  manifest.measured = {{"samples", 12}, {"losses", {{{"reason", "ring full"}, {"samples", 1}}}}};
  manifest.jprof_version = "0.1.0";
  return manifest;
}

TEST(Manifest, ComesBackAsWritten) {
  const std::string text = encode_manifest(example());

  const auto got = parse_manifest(text);

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(encode_manifest(*got), text);
  EXPECT_EQ(got->cause, example().cause);
  EXPECT_EQ(got->source.workload, "checkout");
  EXPECT_EQ(got->files.size(), 2U);
  EXPECT_TRUE(got->partial);
}

TEST(Manifest, RefusesAnyChangedByte) {
  const std::string text = encode_manifest(example());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(parse_manifest(damaged)) << at;
  }
}

TEST(Manifest, RefusesAnyCut) {
  const std::string text = encode_manifest(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_manifest(std::string_view(text).substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_manifest(std::string(text.size(), '\0')));
}

TEST(Manifest, OfANewerWriterIsToldFromADamagedOne) {
  base::Json json = manifest_json(example());
  json["apiVersion"] = "jprof.dev/v9";

  const auto got = manifest_from_json(json);

  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::ErrorCode::kProtocol);
}

TEST(Manifest, IgnoresMembersThatItDoesNotKnow) {
  base::Json json = manifest_json(example());
  json["weather"] = {{"rain", true}};
  EXPECT_TRUE(manifest_from_json(json));
}

TEST(Manifest, RefusesIdsAndFileNamesThatLeaveTheDirectory) {
  for (const char* name : {"../x", "a/b", "", ".x", "manifest.json"}) {
    Manifest manifest = example();
    manifest.files[0].name = name;
    EXPECT_FALSE(parse_manifest(encode_manifest(manifest))) << name;
  }
  Manifest manifest = example();
  manifest.id = "../../escape";
  EXPECT_FALSE(parse_manifest(encode_manifest(manifest)));
}

} // namespace
} // namespace jprof::capture
