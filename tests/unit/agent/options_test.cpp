// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/control/options.h"

#include <gtest/gtest.h>

#include <string>

namespace jprof::agent {
namespace {

const std::string kNonce = "00112233445566778899aabbccddeeff";

TEST(Options, WithoutTextStayIdle) {
  Options options;

  EXPECT_TRUE(parse_options(nullptr, &options));
  EXPECT_TRUE(parse_options("", &options));
  EXPECT_FALSE(options.has_session);
}

TEST(Options, NameSocketAndNonce) {
  Options options;

  ASSERT_TRUE(parse_options(("v=1,socket=/tmp/x,nonce=" + kNonce).c_str(), &options));

  EXPECT_TRUE(options.has_session);
  EXPECT_STREQ(options.socket, "/tmp/x");
  EXPECT_EQ(options.nonce[1], 0x11);
  EXPECT_EQ(options.nonce[15], 0xff);
}

TEST(Options, IgnoreUnknownKeys) {
  Options options;

  EXPECT_TRUE(parse_options(("colour=blue,,socket=/s,=,nonce=" + kNonce + ",x").c_str(), &options));
  EXPECT_STREQ(options.socket, "/s");
}

TEST(Options, RefuseWhatCannotBegin) {
  Options options;
  const std::string good = ",nonce=" + kNonce;

  EXPECT_FALSE(parse_options("socket=/s", &options)) << "no nonce";
  EXPECT_FALSE(parse_options(("socket=relative" + good).c_str(), &options));
  EXPECT_FALSE(parse_options(("socket=" + good).c_str(), &options));
  EXPECT_FALSE(parse_options(("socket=/" + std::string(107, 'a') + good).c_str(), &options));
  EXPECT_FALSE(parse_options(("v=2,socket=/s" + good).c_str(), &options));
  EXPECT_FALSE(parse_options("socket=/s,nonce=0011", &options));
  EXPECT_FALSE(parse_options(("socket=/s,nonce=" + std::string(32, 'G')).c_str(), &options));
  EXPECT_FALSE(parse_options(std::string(5000, 'a').c_str(), &options));
}

} // namespace
} // namespace jprof::agent
