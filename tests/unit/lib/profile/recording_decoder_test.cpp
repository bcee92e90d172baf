// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_chunk.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace jprof::profile {
namespace {

TEST(RecordingDecoder, PaysForNoThreadsBetweenForeignIds) {
  const auto record = [](std::uint64_t id, std::uint64_t tid) {
    ByteWriter out;
    for (const std::uint64_t number : {id, std::uint64_t{0}, tid, std::uint64_t{0}}) {
      out.varint(number);
    }
    out.zigzag(0);
    return out.take();
  };
  ByteWriter threads;
  threads.text(record(UINT32_MAX, 9));
  threads.text(record(5, 7));
  ByteWriter payload;
  payload.field(static_cast<std::uint64_t>(DataTag::kThreads), threads.bytes());
  const std::string file =
      encode_file_header() +
      encode_chunk({.kind = ChunkKind::kData, .payload = payload.bytes()}, 1).value();

  const Profile profile = read_recording(file).value().profile;

  ASSERT_EQ(profile.threads().size(), 2U); // in the order of their ids
  EXPECT_EQ(profile.threads()[0].tid, 7U);
  EXPECT_EQ(profile.threads()[1].tid, 9U);
}

} // namespace
} // namespace jprof::profile
