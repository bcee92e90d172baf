// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/frame.h"

#include <gtest/gtest.h>

namespace jprof::protocol {
namespace {

TEST(FrameDecoder, FindsFramesWhateverTheCutsBetweenReads) {
  const std::string stream = encode_frame(FrameType::kHello, "{}") +
                             encode_frame(FrameType::kProgress, std::string(1000, 'x')) +
                             encode_frame(FrameType::kEnd, "");
  for (const std::size_t step : {1U, 3U, 7U, 8U, 9U, 5000U}) {
    FrameDecoder decoder;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      decoder.feed(std::string_view(stream).substr(at, step));
      for (;;) {
        auto frame = decoder.take();
        ASSERT_TRUE(frame);
        if (!*frame) {
          break;
        }
        frames.push_back(**frame);
      }
    }

    ASSERT_EQ(frames.size(), 3U) << step;
    EXPECT_EQ(frames[0].type, FrameType::kHello);
    EXPECT_EQ(frames[0].payload, "{}");
    EXPECT_EQ(frames[1].payload.size(), 1000U);
    EXPECT_EQ(frames[2].type, FrameType::kEnd);
    EXPECT_EQ(decoder.pending(), 0U);
  }
}

TEST(FrameDecoder, ShowsWhatCameInsteadOfAFrame) {
  FrameDecoder decoder;
  decoder.feed("OCI runtime exec failed: exec: \"/jprof\": no such file\x1b[2J");

  const auto frame = decoder.take();

  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, base::ErrorCode::kProtocol);
  EXPECT_NE(frame.error().message.find("OCI runtime exec failed"), std::string::npos);
  EXPECT_EQ(frame.error().message.find('\x1b'), std::string::npos);
}

TEST(FrameDecoder, RefusesTheFirstWrongByteWithoutWaitingForAHeader) {
  FrameDecoder decoder;
  decoder.feed("x");
  EXPECT_FALSE(decoder.take());
}

TEST(FrameDecoder, RefusesALengthAboveTheLimitBeforeThePayloadArrives) {
  FrameDecoder decoder;
  decoder.feed(std::string("JP\x02\x00\x01\x00\x10\x00", 8)); // 1 MiB + 1
  EXPECT_EQ(decoder.take().error().code, base::ErrorCode::kProtocol);
}

TEST(FrameDecoder, StaysDamagedAndHoardsNothing) {
  FrameDecoder decoder;
  decoder.feed("garbage");
  ASSERT_FALSE(decoder.take());
  const std::size_t held = decoder.pending();

  decoder.feed(encode_frame(FrameType::kEnd, ""));

  EXPECT_FALSE(decoder.take());
  EXPECT_EQ(decoder.pending(), held);
}

TEST(FrameDecoder, PassesTypesOfANewerPeerOn) {
  FrameDecoder decoder;
  decoder.feed(encode_frame(static_cast<FrameType>(77), "new"));

  const auto frame = decoder.take();

  ASSERT_TRUE(frame && *frame);
  EXPECT_FALSE(is_known_frame_type((*frame)->type));
  EXPECT_EQ(frame_type_name((*frame)->type), "77");
}

TEST(Chunk, ComesBackWithItsPlace) {
  FrameDecoder decoder;
  decoder.feed(encode_chunk_frame({3, 0x1'0000'0002, "data"}));
  const auto frame = decoder.take();
  ASSERT_TRUE(frame && *frame);

  const auto chunk = decode_chunk((*frame)->payload);

  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->file, 3U);
  EXPECT_EQ(chunk->offset, 0x1'0000'0002U);
  EXPECT_EQ(chunk->data, "data");
}

TEST(Chunk, RefusesAnyFlippedBitOfTheData) {
  const std::string payload = encode_chunk_frame({0, 0, "some data"}).substr(kFrameHeaderBytes);
  for (std::size_t at = kChunkHeaderBytes; at < payload.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = payload;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(decode_chunk(damaged));
    }
  }
}

TEST(Chunk, RefusesWhatIsTooShortOrTooLong) {
  EXPECT_FALSE(decode_chunk(""));
  EXPECT_FALSE(decode_chunk(std::string(kChunkHeaderBytes - 1, '\0')));
  EXPECT_FALSE(decode_chunk(std::string(kChunkHeaderBytes + kMaxChunkData + 1, '\0')));
}

} // namespace
} // namespace jprof::protocol
