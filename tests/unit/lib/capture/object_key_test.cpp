// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/object_key.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  manifest.request_time = "2026-11-21T07:08:09Z";
  manifest.source.cluster = "c1";
  manifest.source.namespace_name = "shop";
  manifest.source.pod = "checkout-7d9f";
  manifest.source.container = "app";
  manifest.source.workload_kind = "Deployment";
  manifest.source.workload = "checkout";
  return manifest;
}

TEST(ObjectDirectory, IsMadeOfWhatTheRequestSaid) {
  EXPECT_EQ(*object_directory("team/profiles/", example()),
            "team/profiles/v1/c1/shop/deployment.checkout/2026/11/21/"
            "070809Z-checkout-7d9f-app-01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(ObjectDirectory, NamesWhatIsNotKnown) {
  Manifest manifest;
  manifest.id = example().id;
  manifest.request_time = "2026-11-21T07:08:09Z";
  EXPECT_EQ(*object_directory("", manifest), "v1/unknown/unknown/pod.unknown/2026/11/21/"
                                             "070809Z-unknown-unknown-01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(ObjectDirectory, HoldsHostileNamesWithinOneSegment) {
  Manifest manifest = example();
  manifest.source.cluster = "..";
  manifest.source.namespace_name = "../../etc";
  manifest.source.pod = "a\nb\x01?x=1";
  manifest.source.workload = "/../..";

  EXPECT_EQ(*object_directory("", manifest), "v1/--/..-..-etc/deployment.-..-../2026/11/21/"
                                             "070809Z-a-b--x=1-app-01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(ObjectDirectory, KeepsEverySegmentAndTheIdWholeWhenNamesAreLong) {
  Manifest manifest = example();
  manifest.id = std::string(64, 'a');
  manifest.source.pod = std::string(253, 'p');
  manifest.source.container = std::string(63, 'c');
  manifest.source.workload = std::string(253, 'w');

  const std::string key = *object_directory("p", manifest);

  for (std::size_t at = 0; at < key.size();) {
    const std::size_t end = std::min(key.find('/', at), key.size());
    EXPECT_LE(end - at, 128U);
    at = end + 1;
  }
  EXPECT_TRUE(key.ends_with("-" + manifest.id));
}

TEST(ObjectDirectory, RefusesPrefixesThatAreNoPath) {
  for (const char* prefix : {"/a", "a//b", "a/../b", ".", "a b", "\xc3\xa4"}) {
    EXPECT_EQ(object_directory(prefix, example()).error().code, base::ErrorCode::kUsage) << prefix;
  }
  EXPECT_FALSE(object_directory(std::string(100, 'a') + "/" + std::string(100, 'b') + "/" +
                                    std::string(100, 'c') + "/" + std::string(100, 'd') + "/" +
                                    std::string(100, 'e') + "/" + std::string(100, 'f') + "/" +
                                    std::string(100, 'g'),
                                example()));
}

TEST(ObjectDirectory, NeedsAnIdAndATime) {
  Manifest no_id = example();
  no_id.id = "x";
  Manifest no_time = example();
  no_time.request_time = "yesterday";
  EXPECT_FALSE(object_directory("", no_id));
  EXPECT_FALSE(object_directory("", no_time));
}

TEST(TriggerTag, IsOneOfThree) {
  Manifest manifest = example();
  EXPECT_EQ(trigger_tag(manifest), "manual");
  manifest.trigger = "incident";
  EXPECT_EQ(trigger_tag(manifest), "incident");
  manifest.trigger = "a=b&c=d";
  EXPECT_EQ(trigger_tag(manifest), "manual");
}

} // namespace
} // namespace jprof::capture
