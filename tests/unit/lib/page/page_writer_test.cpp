// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/page/assets.h"
#include "lib/page/page_data.h"
#include "lib/page/page_writer.h"
#include "lib/profile/profile_builder.h"
#include "lib/render/collapsed_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstddef>
#include <map>

namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

using namespace jprof;

profile::Profile folded(std::string_view text, std::string_view title = "test") {
  auto profile = render::read_collapsed(text, title);
  EXPECT_TRUE(profile.has_value());
  return std::move(*profile);
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

std::string between(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from) + from.size();
  return std::string(text.substr(begin, text.find(to, begin) - begin));
}

std::string inflate_raw(std::string_view packed, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

std::map<std::string, std::string> columns_of(std::string_view page) {
  const auto data = base::base64_decode(between(page, "id=\"jprof-data\">", "</script>"));
  EXPECT_TRUE(data.has_value());
  const std::string raw =
      inflate_raw(std::string_view(*data).substr(page::kHeaderBytes), u32_at(*data, 12));
  std::map<std::string, std::string> columns;
  for (std::size_t at = 0; at < raw.size();) {
    const std::uint32_t size = u32_at(raw, at + 4);
    columns[raw.substr(at, 4)] = raw.substr(at + 8, size);
    at += 8 + size;
  }
  return columns;
}

TEST(PageWriter, GivesTheSameBytesForTheSameProfile) {
  const std::string text = "a;b 1\na;c 5\nd 2\n";

  EXPECT_EQ(*page::write_page(folded(text)), *page::write_page(folded(text)));
}

TEST(PageWriter, EncodesTheTreeAsDocumented) {
  // Preorder, heaviest first: a{c{b}, b}, b{c}.
  const auto page = page::write_page(folded("a;b 1\na;c 200\na;c;b 7\nb;c 2\n"));

  ASSERT_TRUE(page.has_value());
  auto columns = columns_of(*page);
  // a, c and b are met in this order; then b below a and b below the root are known frames in new
  // places, and so is c below b.
  EXPECT_EQ(columns["TRNK"], std::string("\0\0\0\1\1\1", 6));
  EXPECT_EQ(columns["TKLO"], std::string("\2\2\1", 3));
  EXPECT_EQ(columns["TKHI"], std::string(3, '\0'));
  EXPECT_EQ(columns["TRUN"], std::string("\2\0\1", 3));
  EXPECT_EQ(columns["TPOP"], std::string("\1\1", 2));
  EXPECT_EQ(columns["TLSF"], "\7\1\2");
  // Of the nodes that are not leaves (root, a, c, b) only c has samples of its own.
  EXPECT_EQ(columns["TIGP"], "\2");
  EXPECT_EQ(columns["TISF"], "\xc8\1");
  EXPECT_EQ(columns["NAME"], "abc");
  EXPECT_EQ(columns["FNLO"], std::string("\0\2\1", 3));
  EXPECT_EQ(columns["FKIN"], std::string(3, '\0'));
  EXPECT_FALSE(columns.contains("STIM"));
}

TEST(PageWriter, ListsWhatNobodyMustOverlook) {
  profile::ProfileBuilder builder;
  builder.info().facts = {{"tick", "4 ms"},
                          {std::string(profile::kWarningFact), "half is missing"}};
  const auto page = page::write_page(builder.build());

  ASSERT_TRUE(page.has_value());
  const std::string meta = columns_of(*page)["META"];
  EXPECT_NE(meta.find("\"warnings\":[\"half is missing\"]"), std::string::npos) << meta;
  EXPECT_EQ(columns_of(*page::write_page(folded("a 1\n")))["META"].find("warnings"),
            std::string::npos);
}

TEST(PageWriter, TellsACalleeByItsPlaceAmongThoseOfItsCaller) {
  // y stands behind x in the list of m until it has been called as often.
  const auto page =
      page::write_page(folded("p;m;x 90\np;m;y 80\nq;m;y 70\nr;m;y 60\ns;m;y 50\ns;m;x 40\n"));

  auto columns = columns_of(*page);
  // p m x y, s m y x, q m y, r m y: m below s, q and r is a known frame in a new place each time.
  EXPECT_EQ(columns["TRNK"], std::string("\0\0\0\0\0\1\3\3\0\1\3\0\1\2", 14));
}

TEST(PageWriter, NamesTheLibrariesOfNativeFrames) {
  profile::ProfileBuilder builder;
  const auto frame = [&](profile::FrameKind kind, std::string_view name, std::string_view owner) {
    return builder.intern_frame(
        {.kind = kind, .name = builder.intern_string(name), .owner = builder.intern_string(owner)});
  };
  const std::array stack{frame(profile::FrameKind::kVm, "v", "/jdk/lib/libjvm.so"),
                         frame(profile::FrameKind::kC2, "a.B.c", "a.B"),
                         frame(profile::FrameKind::kNative, "m", "/lib/libc.so.6"),
                         frame(profile::FrameKind::kNative, "u", "")};
  builder.add_sample({.stack = builder.intern_stack(stack), .weight = 1});
  const auto page = page::write_page(builder.build());

  ASSERT_TRUE(page.has_value());
  auto columns = columns_of(*page);
  // Frames in the order of the stack: the Java method has none, and of `u` nobody knows it.
  EXPECT_EQ(columns["FMOD"], std::string("\1\2\0", 3));
  EXPECT_EQ(columns["MNAM"], "libjvm.solibc.so.6");
  EXPECT_EQ(columns["MLEN"], "\x09\x09");
  EXPECT_FALSE(columns_of(*page::write_page(folded("a;b 1\n"))).contains("FMOD"));
}

TEST(PageWriter, SharesTheBeginningsOfNames) {
  const auto page = page::write_page(folded("a.B.c;a.B.\u00e9;a.B.\u00e8;a.B.cd 1\n"));

  auto columns = columns_of(*page);
  // In the order of bytes; a shared first byte of two letters is no shared letter.
  EXPECT_EQ(columns["NPRE"], std::string("\0\5\4\4", 4));
  EXPECT_EQ(columns["NLEN"], "\5\1\1\1");
  EXPECT_EQ(columns["NAME"], "a.B.cd\u00e8\u00e9");
}

TEST(PageWriter, ChecksumsHeaderAndBody) {
  const auto page = page::write_page(folded("a 1\n"));

  const auto data = base::base64_decode(between(*page, "id=\"jprof-data\">", "</script>"));
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->substr(0, 8), page::kMagic);
  EXPECT_EQ(u32_at(*data, 16), data->size() - page::kHeaderBytes);
  const std::string covered = data->substr(0, 20) + data->substr(page::kHeaderBytes);
  EXPECT_EQ(u32_at(*data, 20), crc32(0, reinterpret_cast<const Bytef*>(covered.data()),
                                     static_cast<uInt>(covered.size())));
}

TEST(PageWriter, KeepsTimesThreadsAndStates) {
  profile::ProfileBuilder builder;
  builder.info().has_times = true;
  builder.info().has_threads = true;
  const auto thread = builder.add_thread({.name = builder.intern_string("main")});
  const profile::FrameId frame = builder.intern_frame({.name = builder.intern_string("a")});
  const auto stack = builder.intern_stack(std::span(&frame, 1));
  for (const int ms : {5, 6, 300}) {
    builder.add_sample({.time = std::chrono::milliseconds(ms),
                        .thread = thread,
                        .stack = stack,
                        .state = profile::ThreadState::kParked,
                        .weight = ms == 300 ? 20U : 10U});
  }

  const auto page = page::write_page(builder.build());

  ASSERT_TRUE(page.has_value());
  auto columns = columns_of(*page);
  EXPECT_EQ(columns["STIM"], std::string("\5\1\xa6\2", 4));
  EXPECT_EQ(columns["SSTK"], std::string(3, '\0'));
  EXPECT_EQ(columns["SSTA"], "\5\5\5");
  EXPECT_EQ(columns["SWGT"], "\12\12\24");
  EXPECT_EQ(columns["HNAM"], "main");
}

TEST(PageWriter, GivesARestItsWeightAndNoSample) {
  profile::ProfileBuilder builder;
  builder.info().has_times = true;
  const auto stack_of = [&](profile::FrameKind kind, std::string_view name) {
    const profile::FrameId frame =
        builder.intern_frame({.kind = kind, .name = builder.intern_string(name)});
    return builder.intern_stack(std::span(&frame, 1));
  };
  const auto rest = stack_of(profile::FrameKind::kRest, "[not sampled]");
  const auto hot = stack_of(profile::FrameKind::kC2, "hot");
  builder.add_sample(
      {.time = std::chrono::milliseconds(1), .stack = rest, .count = 0, .weight = 9});
  builder.add_sample({.time = std::chrono::milliseconds(2), .stack = hot, .weight = 5});

  const auto page = page::write_page(builder.build());

  ASSERT_TRUE(page.has_value());
  auto columns = columns_of(*page);
  EXPECT_EQ(columns["FKIN"], "\14\3");
  EXPECT_EQ(columns["TLSF"], std::string("\0\1", 2));
  EXPECT_EQ(columns["TLWT"], "\11\5");
  EXPECT_EQ(columns["SCNT"], std::string("\0\1", 2));
  EXPECT_EQ(columns["SSTK"], std::string("\1\0", 2)); // by samples: first the stack that has one
  EXPECT_NE(columns["META"].find("[\"samples\",\"1\"]"), std::string::npos) << columns["META"];
}

TEST(PageWriter, TellsWhenSamplesWereLostAndDurationsAsPeopleSayThem) {
  profile::ProfileBuilder builder;
  builder.info().has_times = true;
  builder.info().duration = std::chrono::nanoseconds(5'010'797'002);
  builder.event_info().interval = std::chrono::milliseconds(10);
  builder.event_info().gaps = {{.from = std::chrono::microseconds(1500),
                                .to = std::chrono::milliseconds(40),
                                .reason = "ring full",
                                .samples = 7}};
  builder.add_sample({.stack = builder.intern_stack({}), .weight = 1});

  const auto page = page::write_page(builder.build());

  ASSERT_TRUE(page.has_value());
  const std::string meta = columns_of(*page)["META"];
  EXPECT_NE(meta.find(R"("gaps":[{"from":1,"to":40,"lost":7,"reason":"ring full"}])"),
            std::string::npos)
      << meta;
  EXPECT_NE(meta.find(R"("duration":"5.01 s")"), std::string::npos) << meta;
  EXPECT_NE(meta.find(R"("interval":"10 ms")"), std::string::npos) << meta;
}

// What a class, thread or pod may be called, and must not become.
TEST(PageWriter, LetsNothingOfTheProfileBecomeMarkup) {
  const std::string evil = "</script><img src=x onerror=alert(1)><!--<script>\"'`${1}]]>";

  const auto page = page::write_page(folded(evil + " 5\n", evil), {.title = evil});

  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->find("<img"), std::string::npos);
  EXPECT_EQ(page->find("<!--"), std::string::npos);
  // The page's own script names its data block: so as many as in any page.
  EXPECT_EQ(occurrences(*page, "<script"),
            occurrences(*page::write_page(folded("a 1\n")), "<script"));
  EXPECT_NE(page->find("&lt;/script&gt;&lt;img"), std::string::npos);
}

TEST(PageWriter, AllowsOnlyItsOwnScriptAndStyle) {
  const auto page = page::write_page(folded("a 1\n"));

  ASSERT_TRUE(page.has_value());
  const std::string policy = between(*page, "Content-Security-Policy\" content=\"", "\">");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(policy.find(std::string(page::script_hash())), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  // The policy stands before anything that it has to govern.
  EXPECT_LT(page->find("Content-Security-Policy"), page->find("<title>"));
  EXPECT_EQ(page->find("http://"), page->find("http://www.w3.org/"));
  EXPECT_EQ(page->find("https://"), std::string::npos);
}

TEST(PageWriter, ShowsTheHottestMethodsWithoutScript) {
  const auto page = page::write_page(folded("main;hot 75\nmain;warm 25\n"));

  ASSERT_TRUE(page.has_value());
  EXPECT_NE(page->find("<td class=\"n\">75.00 %</td><td class=\"n\">75.00 %</td>"
                       "<td><bdi>hot</bdi></td>"),
            std::string::npos);
}

TEST(PageWriter, SaysThatThereAreNoSamples) {
  const auto page = page::write_page(folded(""));

  ASSERT_TRUE(page.has_value());
  EXPECT_NE(page->find("No samples."), std::string::npos);
}

TEST(PageWriter, WritesAViewerThatHasNoDataAndTheSamePolicy) {
  const std::string viewer = page::write_viewer_page();
  const auto capture = page::write_page(folded("main;hot 75\n"));

  ASSERT_TRUE(capture.has_value());
  const auto policy_of = [](const std::string& html) {
    const std::size_t begin = html.find("Content-Security-Policy");
    return html.substr(begin, html.find('>', begin) - begin);
  };
  EXPECT_EQ(policy_of(viewer), policy_of(*capture));
  EXPECT_NE(policy_of(viewer).find("trusted-types jprof-matcher jprof-reader"), std::string::npos);
  EXPECT_NE(viewer.find("<div id=\"jprof\" data-viewer>"), std::string::npos);
  EXPECT_EQ(viewer.find("id=\"jprof-data\""), std::string::npos);
}

} // namespace
