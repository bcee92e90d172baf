// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

namespace jprof::formats {
namespace {

using ::testing::HasSubstr;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); // as the program zstd does
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string long_text() {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < 5'000'000) {
    text += "main;f" + std::to_string(random() % 5000) + " " + std::to_string(random() % 90) + "\n";
  }
  return text;
}

class Unpack : public ::testing::TestWithParam<std::string (*)(const std::string&)> {
 protected:
  static std::string packed(const std::string& text) { return GetParam()(text); }
};
INSTANTIATE_TEST_SUITE_P(Packers, Unpack, ::testing::Values(gzipped, zstd_packed));

TEST_P(Unpack, GivesBackWhatWasPackedInOnePieceOrInSeveral) {
  const std::string text = long_text();

  ASSERT_TRUE(is_packed(packed(text)));
  EXPECT_TRUE(unpack(packed(text)) == text);
  EXPECT_EQ(unpack(packed("a 1\n") + packed("") + packed("b 2\n")), "a 1\nb 2\n");
  // A piece that ends exactly where the room for it does.
  const std::string exact(std::size_t{2} << 20, 'x');
  EXPECT_TRUE(unpack(packed(exact)) == exact);
}

TEST_P(Unpack, RefusesWhatIsNotWhole) {
  const std::string whole = packed(long_text());
  for (const std::size_t size :
       {std::size_t{4}, std::size_t{11}, whole.size() / 2, whole.size() - 1}) {
    const auto half = unpack(whole.substr(0, size));
    ASSERT_FALSE(half.has_value()) << size;
    EXPECT_EQ(half.error().code, base::ErrorCode::kInvalidData) << size;
  }
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 0x41;
  EXPECT_FALSE(unpack(damaged).has_value());
  EXPECT_FALSE(unpack(whole + "and more").has_value());
}

TEST_P(Unpack, StopsAtItsLimit) {
  const std::string bomb = packed(std::string(std::size_t{64} << 20, 'a'));
  ASSERT_LT(bomb.size(), 100'000U);

  const auto text = unpack(bomb, std::size_t{1} << 20);

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, base::ErrorCode::kLimit);
  EXPECT_THAT(text.error().message, HasSubstr("more than 1 MiB"));
}

TEST_P(Unpack, GivesUpWhatIsNoTextAtOnce) {
  const auto zeros = unpack(packed(std::string(std::size_t{64} << 20, '\0')));

  ASSERT_FALSE(zeros.has_value());
  EXPECT_THAT(zeros.error().message, HasSubstr("not text"));
  // A recording is no text either.
  const std::string recording = std::string("\x89JPROF\r\n", 8) + std::string(100, '\0');
  EXPECT_EQ(unpack(packed(recording)), recording);
}

} // namespace
} // namespace jprof::formats
