// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/admission.h"

#include <gtest/gtest.h>

namespace jprof::serve {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

protocol::RecordRequest request() {
  protocol::RecordRequest request;
  request.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  request.duration = 10s;
  return request;
}

ErrorCode refusal(const config::SidecarConfig& config, const protocol::RecordRequest& request) {
  const auto status = check_request(config, request);
  EXPECT_FALSE(status);
  return status ? ErrorCode::kInternal : status.error().code;
}

TEST(CheckRequest, LetsTheDefaultsPass) {
  EXPECT_TRUE(check_request({}, request()));
}

TEST(CheckRequest, RefusesWhatIsNotAllowed) {
  config::SidecarConfig config;
  config.allow = {"threaddump"};
  EXPECT_EQ(refusal(config, request()), ErrorCode::kNotAllowed);
}

TEST(CheckRequest, LeavesNothingBehindUnlessThatIsAllowed) {
  auto asked = request();
  asked.leave_behind = true;
  EXPECT_EQ(refusal({}, asked), ErrorCode::kNotAllowed);
  config::SidecarConfig config;
  config.allow = {"record", "leaveBehind"};
  EXPECT_TRUE(check_request(config, asked));
}

TEST(CheckRequest, HoldsTheLimitsToTheNanosecond) {
  config::SidecarConfig config;
  config.limits.longest_duration = 10s;
  config.limits.shortest_interval = 5ms;
  auto asked = request();
  asked.interval = 5ms;
  EXPECT_TRUE(check_request(config, asked));

  asked.duration = 10s + 1ns;
  EXPECT_EQ(refusal(config, asked), ErrorCode::kLimit);
  asked = request();
  asked.interval = 5ms - 1ns;
  EXPECT_EQ(refusal(config, asked), ErrorCode::kLimit);
}

TEST(CheckRequest, RefusesStrangeIdsAndTriggers) {
  auto asked = request();
  asked.id = "../../../../tmp/x";
  EXPECT_EQ(refusal({}, asked), ErrorCode::kUsage);
  asked = request();
  asked.trigger = "whim";
  EXPECT_EQ(refusal({}, asked), ErrorCode::kUsage);
}

TEST(DraftManifest, PrefersWhatTheSidecarKnowsToWhatIsClaimed) {
  config::SidecarConfig config;
  config.source.pod = "known";
  auto asked = request();
  asked.pod.pod = "claimed";
  asked.pod.node = "node-1";
  asked.request_time = "2026-11-21T07:08:09Z";

  const auto draft = draft_manifest(config, asked, std::chrono::system_clock::now());

  EXPECT_EQ(draft.source.pod, "known");
  EXPECT_EQ(draft.source.node, "node-1");
  EXPECT_EQ(draft.request_time, "2026-11-21T07:08:09Z");
}

TEST(DraftManifest, TakesTheContainerFromWhoeverChoseIt) {
  config::SidecarConfig config;
  config.source.container = "usual";
  auto asked = request();
  asked.pod.container = "other";
  const auto now = std::chrono::system_clock::now();

  EXPECT_EQ(draft_manifest(config, asked, now).source.container, "usual");
  asked.container_id = std::string(64, 'a');
  EXPECT_EQ(draft_manifest(config, asked, now).source.container, "other");
}

TEST(DraftManifest, HasATimeWhateverTheCallerSent) {
  auto asked = request();
  asked.request_time = "yesterday/../..";
  const auto draft =
      draft_manifest({}, asked, std::chrono::system_clock::from_time_t(1'709'210'096));
  EXPECT_EQ(draft.request_time, "2024-02-29T12:34:56Z");
}

} // namespace
} // namespace jprof::serve
