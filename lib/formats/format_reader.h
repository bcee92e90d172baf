// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"
#include "lib/profile/recording_reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace jprof::formats {

// What is to be read, and its name for messages and titles.
struct Input {
  std::string name;
  std::string bytes;
};

// A file, or standard input for "-". At most 4 GiB; what gzip or zstd compressed is decompressed
// (unpack.h). A file that cannot be read is kUsage, because the caller named it.
base::Result<Input> read_input(const std::string& path);

// Reads a profile in any format that we read, identified by its content, not by its name:
// recordings by their magic, the rest by their first lines. Errors begin with the input's name and,
// for text, the line number. What is not text at all is kInvalidData (text_check.h). A recording
// that is cut off or damaged gives what could be read of it (ProfileInfo::damage); one from which
// no sample could be read is kInvalidData. So are pages, pictures and other XML. `lines` concerns
// recordings, which know the line of each Java frame.
base::Result<profile::Profile> read_any(std::string_view bytes, std::string_view name,
                                        profile::FrameLines lines = profile::FrameLines::kMerge);

// read_input() and read_any() in one. Folded text in a file is read piece by piece: it is often ten
// times as large as what is made from it.
base::Result<profile::Profile>
read_profile(const std::string& path, profile::FrameLines lines = profile::FrameLines::kMerge);

// What is left of an input as folded text. A reader of it cannot know its unit.
struct Folded {
  std::string text;
  profile::Unit unit = profile::Unit::kSamples; // of text that was folded: not known, counts
  bool was_folded = false;
  std::vector<std::string> left_out; // as render::left_out_of() tells it
  std::string damage;                // ProfileInfo::damage
};

// Folded text as it stands (decimals and second counts are kept); other formats are folded, with
// the suffixes of kinds if `suffixes`. `event` as find_event() takes it; folded text has none.
enum class KindSuffixes { kNo, kYes };
base::Result<Folded> folded_text(Input input, KindSuffixes suffixes, std::string_view event = {});

} // namespace jprof::formats
