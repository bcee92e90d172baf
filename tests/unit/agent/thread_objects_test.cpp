// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/thread_objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace jprof::agent::jvm {
namespace {

JavaText text_of(std::u16string_view units) {
  JavaText text;
  text.count = std::min(units.size(), kMaxJavaNameBytes);
  text.whole = text.count == units.size();
  std::copy_n(units.begin(), text.count, text.units);
  return text;
}

std::string utf8(std::u16string_view units, std::size_t room = kMaxJavaNameBytes) {
  std::string out(room, '\0');
  out.resize(to_utf8(text_of(units), out.data(), room));
  return out;
}

bool fits(std::u16string_view name, std::string_view kernel) {
  return kernel_name_fits(text_of(name), kernel.data(), kernel.size());
}

TEST(ThreadNames, BecomeUtf8) {
  EXPECT_EQ(utf8(u"main"), "main");
  EXPECT_EQ(utf8(u"Z\u00e4hler"), "Z\xc3\xa4hler");
  EXPECT_EQ(utf8(u"\u8ba2"), "\xe8\xae\xa2");
  EXPECT_EQ(utf8(u"\U0001f680"), "\xf0\x9f\x9a\x80");
}

TEST(ThreadNames, AreCutAtACharacter) {
  EXPECT_EQ(utf8(u"ab\u00e4", 3), "ab");
  EXPECT_EQ(utf8(u"ab\u00e4", 4), "ab\xc3\xa4");
  EXPECT_EQ(utf8(u"a\U0001f680", 4), "a");
}

TEST(ThreadNames, MarkUnpairedSurrogates) {
  const char16_t alone[] = {u'a', 0xd83d, u'b', 0xde80, 0};
  EXPECT_EQ(utf8(alone), "a\xef\xbf\xbd"
                         "b\xef\xbf\xbd");
}

TEST(ThreadNames, OfTheFirstThreadNeedNoKernel) {
  EXPECT_TRUE(is_first_thread(text_of(u"main"), 1, 21));
  EXPECT_TRUE(is_first_thread(text_of(u"main"), 3, 25));
  EXPECT_FALSE(is_first_thread(text_of(u"main"), 1, 25));
  EXPECT_FALSE(is_first_thread(text_of(u"main"), 3, 21)); // somebody else's idea
  EXPECT_FALSE(is_first_thread(text_of(u"mai"), 1, 21));
  EXPECT_FALSE(is_first_thread(text_of(u"main2"), 1, 21));
  EXPECT_FALSE(is_first_thread(text_of(u"maim"), 1, 21));
}

TEST(KernelNames, FitAShortNameOnlyWhole) {
  EXPECT_TRUE(fits(u"main", "main"));
  EXPECT_FALSE(fits(u"main", "mai"));
  EXPECT_FALSE(fits(u"main", "main2"));
  EXPECT_TRUE(fits(u"exactly15bytes!", "exactly15bytes!"));
}

TEST(KernelNames, FitALongNameCutAtItsEndOrInItsMiddle) {
  EXPECT_TRUE(fits(u"order-processing-worker", "order-processin"));
  EXPECT_TRUE(fits(u"order-processing-worker", "order-p..worker"));
  EXPECT_FALSE(fits(u"order-processing-worker", "order-p..walker"));
  EXPECT_FALSE(fits(u"order-processing-worker", "order-q..worker"));
}

TEST(KernelNames, AreModifiedUtf8) {
  // The surrogates of U+1F680, three bytes each; the kernel got the last six.
  EXPECT_TRUE(fits(u"worker of \U0001f680", "worker ..\xed\xa0\xbd\xed\xba\x80"));
}

TEST(KernelNames, OfANameNotReadToItsEndAreComparedAtTheBeginning) {
  const std::u16string endless(200, u'x');
  EXPECT_TRUE(fits(endless, "xxxxxxx..yyyyyy"));
  EXPECT_FALSE(fits(endless, "xxxxxxy..yyyyyy"));
}

} // namespace
} // namespace jprof::agent::jvm
