// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Names that a compromised JVM may choose, as frames, threads, title, facts and reasons, through
// every output format and the summary: they stay text. What a browser makes of pages and pictures
// is tested in tests/page.
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/capture/summary.h"
#include "lib/formats/format_diff.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"
#include "lib/profile/profile_builder.h"
#include "lib/render/collapsed_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace jprof {
namespace {

std::vector<std::string> hostile_names() {
  std::vector<std::string> names = {
      "</script><img src=x onerror=alert(1)>",
      "<!--<script>alert(2)",
      "\"'`${alert(3)}",
      "]]><svg onload=alert(4)>",
      std::string("nul\0l", 5),
      "sep\u2028line\u2029para",
      "rtl\u202egpj.exe\u202c",
      "\u2066isolate\u2069\u200e\u200f\u061c",
      "__proto__",
      "constructor",
      "javascript:alert(5)",
      "&lt;b&gt;&#60;script&#62;",
      "tab\there",
      "line\nbreak\r\n",
      "semi;colon 12",
      "\x1b[2J\x1b]0;title\x07",
      "c1\u009b2J\u0085\u0090q",
      "bad\xff\xc0utf8",
      "lone\xed\xa0\x80surrogate",
      "\ufeffbom",
      "\U0001d4b3emoji",
      "",
      " ",
      std::string(2'000'000, 'x'),
  };
  for (int i = 0; i < 1000; ++i) {
    names.push_back(std::string(200, 'p') + std::to_string(i));
  }
  return names;
}

// The same shape with names that are harmless, to compare with.
std::vector<std::string> harmless_names() {
  std::vector<std::string> names = hostile_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = "name" + std::to_string(i);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < 23; ++i) {
    all += names[i] + " ";
  }
  return all;
}

profile::Profile profile_of(const std::vector<std::string>& names) {
  profile::ProfileBuilder builder;
  builder.info().title = joined(names);
  builder.event_info().name = names[0];
  builder.event_info().engine = names[3];
  builder.event_info().walker = names[15];
  builder.info().has_threads = true;
  builder.info().has_times = true;
  builder.info().partial = true;
  builder.info().partial_reason = joined(names);
  builder.event_info().losses = {{joined(names), 1, 1}};
  builder.info().facts = {{joined(names), joined(names)}};
  std::int64_t time = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const profile::FrameId stack[] = {
        builder.intern_frame({.name = builder.intern_string(names[0])}),
        builder.intern_frame({.kind = profile::FrameKind::kC2,
                              .name = builder.intern_string(names[i]),
                              .owner = builder.intern_string(names[i])})};
    const profile::ThreadId thread =
        builder.add_thread({.name = builder.intern_string(names[i % 23]), .tid = 1});
    builder.add_sample({.time = std::chrono::nanoseconds(++time),
                        .thread = thread,
                        .stack = builder.intern_stack(stack),
                        .weight = 1 + i % 7});
  }
  return builder.build();
}

const profile::Profile& evil_profile() {
  static const profile::Profile kProfile = profile_of(hostile_names());
  return kProfile;
}

const profile::Profile& plain_profile() {
  static const profile::Profile kProfile = profile_of(harmless_names());
  return kProfile;
}

std::string written(const profile::Profile& profile, formats::Format format) {
  auto bytes = formats::write_as(profile, format);
  EXPECT_TRUE(bytes.has_value());
  return bytes.value_or("");
}

// Nothing that a terminal obeys or that hides: only line breaks that the writer made.
void expect_plain(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char c = base::decode_utf8(text.substr(at));
    const bool hidden =
        (c.value < 0x20 && c.value != '\n') || (c.value >= 0x7f && c.value < 0xa0) ||
        c.value == 0x200e || c.value == 0x200f || c.value == 0x61c ||
        (c.value >= 0x2028 && c.value <= 0x202e) || (c.value >= 0x2066 && c.value <= 0x2069);
    if (c.valid && !hidden) {
      at += c.length;
      continue;
    }
    FAIL() << "U+" << std::hex << static_cast<std::uint32_t>(c.value) << " at " << at;
  }
}

std::ptrdiff_t lines_of(std::string_view text) {
  return std::ranges::count(text, '\n');
}

std::vector<std::string> tags_of(std::string_view markup) {
  std::vector<std::string> tags;
  for (std::size_t at = markup.find('<'); at != std::string_view::npos;
       at = markup.find('<', at + 1)) {
    const std::size_t end = markup.find_first_of(" >/\n", at + 2);
    tags.emplace_back(markup.substr(at, end - at));
  }
  return tags;
}

TEST(HostileNames, AddNoMarkupToAPage) {
  const std::string evil = written(evil_profile(), formats::Format::kPage);
  const std::string plain = written(plain_profile(), formats::Format::kPage);

  std::set<std::string> known;
  for (const std::string& tag : tags_of(plain)) {
    known.insert(tag);
  }
  for (const std::string& tag : tags_of(evil)) {
    EXPECT_TRUE(known.contains(tag)) << tag;
  }
  EXPECT_EQ(tags_of(evil).size(), tags_of(plain).size());
}

TEST(HostileNames, AddNoMarkupToAPicture) {
  const std::string evil = written(evil_profile(), formats::Format::kSvg);
  const std::string plain = written(plain_profile(), formats::Format::kSvg);

  EXPECT_EQ(tags_of(evil), tags_of(plain));
  expect_plain(evil);
}

TEST(HostileNames, BreakNoLineOfFoldedText) {
  const profile::Profile& profile = evil_profile();
  const std::string text = written(profile, formats::Format::kCollapsed);

  expect_plain(text);
  const auto back = formats::read_any(text, "again");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->event().total_weight, profile.event().total_weight);
  EXPECT_EQ(written(*back, formats::Format::kCollapsed), text);
  EXPECT_TRUE(back->info().facts.empty()) << "ignored lines";
}

TEST(HostileNames, BreakNoLineOfTheTree) {
  const std::string evil = written(evil_profile(), formats::Format::kTreeText);

  expect_plain(evil);
  EXPECT_EQ(lines_of(evil), lines_of(written(plain_profile(), formats::Format::kTreeText)));
}

TEST(HostileNames, AreWholeInJsonAndRecording) {
  const profile::Profile& profile = evil_profile();
  std::set<std::string> expected;
  for (const profile::Frame& frame : profile.frames()) {
    expected.insert(std::string(profile.string(frame.name)));
  }

  const std::string json = written(profile, formats::Format::kTreeJson);
  expect_plain(json);
  const auto tree = base::parse_json(json);
  ASSERT_TRUE(tree.has_value());
  std::set<std::string> in_json{(*tree)["tree"]["children"][0]["name"].get<std::string>()};
  for (const base::Json& child : (*tree)["tree"]["children"][0]["children"]) {
    in_json.insert(child["name"].get<std::string>());
  }
  EXPECT_EQ(in_json, expected);

  const auto back = formats::read_any(written(profile, formats::Format::kRecording), "again");
  ASSERT_TRUE(back.has_value());
  // The format cuts what is longer than any name of a JVM.
  std::set<std::string> in_recording;
  for (const profile::Frame& frame : back->frames()) {
    in_recording.insert(std::string(back->string(frame.name).substr(0, 1000)));
  }
  std::set<std::string> beginnings;
  for (const std::string& name : expected) {
    beginnings.insert(name.substr(0, 1000));
  }
  EXPECT_EQ(in_recording, beginnings);
  EXPECT_TRUE(profile.info().title.starts_with(back->info().title.substr(0, 200)));
}

TEST(HostileNames, StayTextInDifferences) {
  const formats::Input evil{joined(hostile_names()),
                            written(evil_profile(), formats::Format::kRecording)};
  const formats::Input plain{"plain", written(plain_profile(), formats::Format::kRecording)};

  formats::DiffTold told;
  const auto folded = formats::diff_as(plain, evil, formats::Format::kCollapsed, {}, told);
  ASSERT_TRUE(folded.has_value());
  expect_plain(*folded);
  const auto svg = formats::diff_as(plain, evil, formats::Format::kSvg, {}, told);
  ASSERT_TRUE(svg.has_value());
  expect_plain(*svg);
  EXPECT_EQ(svg->find("<img"), std::string::npos);
  EXPECT_EQ(svg->find("<script"), svg->rfind("<script"));
  const auto page = formats::diff_as(plain, evil, formats::Format::kPage, {}, told);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->find("<img src=x"), std::string::npos);
}

TEST(HostileNames, StayOnTheirLineOfTheSummary) {
  const auto measured_of = [](const std::vector<std::string>& names) {
    capture::Measured measured;
    measured.java_version = measured.agent_version = measured.event = joined(names);
    measured.engine = measured.walker = joined(names);
    measured.samples = measured.weight_ns = 10;
    measured.accounted = true;
    measured.losses = {{joined(names), 1, 1}};
    measured.notes = measured.skipped = measured.file_errors = {joined(names)};
    for (const std::string& name : names) {
      measured.hottest.push_back({name, 1, 1});
    }
    return measured;
  };

  const std::string evil =
      capture::summary_text(measured_of(hostile_names()), capture::Detail::kFull);

  expect_plain(evil);
  EXPECT_EQ(lines_of(evil),
            lines_of(capture::summary_text(measured_of(harmless_names()), capture::Detail::kFull)));
  EXPECT_LT(evil.size(), 1'000'000U); // the long one is cut
}

} // namespace
} // namespace jprof
