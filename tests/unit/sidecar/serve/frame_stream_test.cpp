// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/protocol/file_check.h"
#include "sidecar/serve/file_sender.h"
#include "sidecar/serve/frame_stream.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

namespace jprof::serve {
namespace {

class FrameStreamTest : public ::testing::Test {
 protected:
  FrameStreamTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ours_.emplace(base::UniqueFd(ends[0]));
    theirs_.emplace(base::UniqueFd(ends[1]));
  }
  std::optional<FrameStream> ours_, theirs_;
};

TEST_F(FrameStreamTest, BringsFramesAcross) {
  ours_->send(protocol::FrameType::kPing, "{}");
  ASSERT_TRUE(ours_->flush());

  EXPECT_TRUE(*theirs_->receive());
  const auto frame = theirs_->take();

  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->type, protocol::FrameType::kPing);
}

TEST_F(FrameStreamTest, QueuesWhatTheOtherSideDoesNotTake) {
  const std::string payload(protocol::kMaxPayloadBytes, 'x');
  ours_->send(protocol::FrameType::kResult, payload);
  ASSERT_TRUE(ours_->flush());
  EXPECT_GT(ours_->pending(), 0U);

  std::optional<protocol::Frame> frame;
  while (!frame) {
    ASSERT_TRUE(*theirs_->receive());
    frame = *theirs_->take();
    ASSERT_TRUE(ours_->flush());
  }
  EXPECT_EQ(frame->payload, payload);
  EXPECT_EQ(ours_->pending(), 0U);
}

TEST_F(FrameStreamTest, SaysThatTheOtherSideIsGone) {
  theirs_.reset();
  EXPECT_FALSE(*ours_->receive());
  ours_->send(protocol::FrameType::kPing, "{}");
  EXPECT_FALSE(ours_->flush());
}

TEST_F(FrameStreamTest, SendsFilesWithoutHoldingThemInMemory) {
  const jprof::testing::TempDir directory;
  const std::string large(3 * 1024 * 1024 + 17, 'p');
  const std::string small = "tail";
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/large", large, 0600));
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/empty", "", 0600));
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/small", small, 0600));
  const std::vector<protocol::ResultFile> files{
      {"large", large.size(), 0, base::sha256_hex(large)},
      {"empty", 0, 0, base::sha256_hex("")},
      {"small", small.size(), 2, base::sha256_hex(small)}};
  FileSender sender(directory.path(), files);
  protocol::FileCheck check(files);
  ASSERT_TRUE(check.resume(2, "ta"));

  for (bool done = false; !done || ours_->pending() > 0;) {
    const auto pumped = sender.pump(*ours_);
    ASSERT_TRUE(pumped);
    done = *pumped;
    EXPECT_LE(ours_->pending(), 256U * 1024);
    ASSERT_TRUE(ours_->flush());
    ASSERT_TRUE(*theirs_->receive());
    while (const auto frame = *theirs_->take()) {
      const auto chunk = protocol::decode_chunk(frame->payload);
      ASSERT_TRUE(chunk);
      ASSERT_TRUE(check.accept(*chunk));
    }
  }
  while (!check.complete(2)) {
    ASSERT_TRUE(*theirs_->receive());
    while (const auto frame = *theirs_->take()) {
      ASSERT_TRUE(check.accept(*protocol::decode_chunk(frame->payload)));
    }
  }
  EXPECT_TRUE(check.finish());
}

TEST_F(FrameStreamTest, SaysThatAFileBecameShorter) {
  const jprof::testing::TempDir directory;
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/a", "abc", 0600));
  FileSender sender(directory.path(), {{"a", 5, 0, base::sha256_hex("abcde")}});
  EXPECT_FALSE(sender.pump(*ours_));
}

} // namespace
} // namespace jprof::serve
