// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/request.h"

#include <gtest/gtest.h>

namespace jprof::protocol {
namespace {

using namespace std::chrono_literals;

Request record_request() {
  Request request;
  request.record.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  request.record.trigger = "schedule";
  request.record.requester = "ann@example.com";
  request.record.cause = "latency";
  request.record.request_time = "2026-11-21T10:00:00Z";
  request.record.pid = 7;
  request.record.container_id = std::string(64, 'a');
  request.record.duration = 60s;
  request.record.interval = 10ms;
  request.record.formats = {"html", "collapsed"};
  request.record.send_files = false;
  request.record.join = true;
  request.record.leave_behind = true;
  request.record.force = true;
  request.record.pod_memory = 67108864;
  request.record.pod = {"c1",         "shop",     "checkout-1",     "uid",      "node-1", "app",
                        "Deployment", "checkout", "registry/app:1", "sha256:ab"};
  return request;
}

TEST(Request, RecordComesBackAsSent) {
  const Request sent = record_request();

  const auto got = parse_request(encode_request(sent));

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->kind, RequestKind::kRecord);
  EXPECT_EQ(encode_request(*got), encode_request(sent));
  EXPECT_EQ(got->record.duration, 60s);
  EXPECT_EQ(got->record.pod.workload_kind, "Deployment");
  EXPECT_EQ(got->record.container_id, std::string(64, 'a'));
  EXPECT_FALSE(got->record.send_files);
  EXPECT_TRUE(got->record.join);
  EXPECT_TRUE(got->record.leave_behind);
  EXPECT_TRUE(got->record.force);
  EXPECT_EQ(got->record.pod_memory, 67108864U);
}

TEST(Request, AttachComesBackAsSent) {
  Request sent;
  sent.kind = RequestKind::kAttach;
  sent.attach = {"ann", 7, "jcmd", {"VM.flags", std::string(5000, 'x')}, 30s, "c0ffee"};

  const auto got = parse_request(encode_request(sent));

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->kind, RequestKind::kAttach);
  EXPECT_EQ(encode_request(*got), encode_request(sent));
  EXPECT_EQ(got->attach.arguments[1].size(), 5000U);
  EXPECT_EQ(got->attach.container_id, "c0ffee");
  EXPECT_FALSE(parse_request(R"({"type":"attach","arguments":[1]})"));
  EXPECT_FALSE(parse_request(R"({"type":"attach","timeoutNs":-1})"));
}

TEST(Request, FetchFillsMissingOffsetsWithZero) {
  const auto got = parse_request(R"({"type":"fetch","id":"x","names":["a","b"],"offsets":[5]})");

  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, RequestKind::kFetch);
  EXPECT_EQ(got->fetch.offsets, (std::vector<std::uint64_t>{5, 0}));
  EXPECT_TRUE(got->fetch.wait);
}

TEST(Request, RefusesNumbersOutOfRange) {
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":0})"));
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":-5})"));
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":9e18})"));
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":1,"pid":-1})"));
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":1,"pid":4294967296})"));
  EXPECT_FALSE(parse_request(R"({"type":"fetch","names":["a"],"offsets":[-1]})"));
  EXPECT_FALSE(parse_request(R"({"type":"fetch","names":[],"offsets":[1]})"));
}

TEST(Request, RefusesTextAndListsWithoutBound) {
  const std::string text(2000, 'x');
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":1,"cause":")" + text + "\"}"));
  std::string list = "\"a\"";
  for (int i = 0; i < 40; ++i) {
    list += ",\"a\"";
  }
  EXPECT_FALSE(parse_request(R"({"type":"record","durationNs":1,"formats":[)" + list + "]}"));
}

TEST(Request, NamesAMemberOfAnotherType) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"type":"record","durationNs":1,"id":7})", "'id' must be a string, but is a number"},
      {R"({"type":"record","durationNs":1,"pid":"42"})", "'pid' must be a whole number"},
      {R"({"type":"record","durationNs":1e3})", "'durationNs' must be a whole number"},
      {R"({"type":"record","durationNs":1,"force":"yes"})", "'force' must be true or false"},
      {R"({"type":"record","durationNs":1,"formats":"html"})", "'formats' must be a list"},
      {R"({"type":"record","durationNs":1,"pod":[]})", "'pod' must be an object, but is array"},
      {R"({"type":"record","durationNs":1,"pod":{"node":1}})", "'node' must be a string"},
      {R"({"type":"attach","command":["load"]})", "'command' must be a string"},
      {R"({"type":"fetch","names":{}})", "'names' must be a list"},
      {R"({"type":5})", "'type' must be a string"},
      {"[]", "not a JSON object"}};
  for (const auto& [text, said] : wrong) {
    const auto got = parse_request(text);
    ASSERT_FALSE(got) << text;
    EXPECT_NE(got.error().message.find(said), std::string::npos) << got.error().message;
    EXPECT_FALSE(got.error().cure.empty());
  }
  EXPECT_TRUE(parse_request(R"({"type":"record","durationNs":1,"id":null,"later":{}})"));
}

TEST(Request, SaysThatTheSidecarIsOlderThanTheRequest) {
  const auto got = parse_request(R"({"type":"teleport"})");

  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::ErrorCode::kProtocol);
  EXPECT_EQ(got.error().cure, "upgrade the sidecar's image");
}

TEST(Cancel, KeepsUnlessToldToDiscard) {
  EXPECT_EQ(*parse_cancel(encode_cancel(CancelMode::kDiscard)), CancelMode::kDiscard);
  EXPECT_EQ(*parse_cancel(encode_cancel(CancelMode::kKeep)), CancelMode::kKeep);
  EXPECT_EQ(*parse_cancel("{}"), CancelMode::kKeep);
}

} // namespace
} // namespace jprof::protocol
