// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/format_reader.h"

#include "lib/base/file.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/text_check.h"
#include "lib/formats/unpack.h"
#include "lib/profile/recording_format.h"
#include "lib/profile/recording_reader.h"
#include "lib/render/collapsed_reader.h"
#include "lib/render/collapsed_writer.h"
#include "lib/render/perf_script_reader.h"
#include "lib/render/speedscope_reader.h"
#include "lib/render/thread_dump_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::formats {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 30;
constexpr std::size_t kPiece = std::size_t{1} << 20;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

enum class Content { kRecording, kPerfScript, kThreadDump, kSpeedscope, kFolded };

Content content_of(std::string_view bytes) {
  if (bytes.starts_with(profile::kRecordingMagic)) {
    return Content::kRecording;
  }
  if (render::looks_like_speedscope(bytes)) {
    return Content::kSpeedscope;
  }
  if (render::looks_like_thread_dump(bytes)) {
    return Content::kThreadDump;
  }
  return render::looks_like_perf_script(bytes) ? Content::kPerfScript : Content::kFolded;
}

base::Error refused(const std::string& what, const std::string& cure) {
  return base::make_error(base::ErrorCode::kInvalidData, what, cure);
}

// After `at`, in lower case; the beginning is all that is looked at.
std::string lower_beginning(std::string_view bytes, std::size_t at, std::size_t most) {
  std::string out(bytes.substr(at, most));
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

// A page or another document of XML, whose styles and scripts hold lines that end in a number. No
// frame of a stack is called like its first words; the page's own reader
// (lib/page/src/data/intake.js) refuses by the same.
base::Error markup(std::string_view bytes) {
  constexpr std::size_t kBeginning = 4096;
  bytes.remove_prefix(bytes.starts_with("\xef\xbb\xbf") ? 3 : 0);
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || bytes[begin] != '<') {
    return {};
  }
  const std::string text = lower_beginning(bytes, begin, kBeginning);
  const auto opens = [&text](std::string_view name) {
    return text.starts_with(name) && text.size() > name.size() &&
           std::string_view(" \t\r\n>").find(text[name.size()]) != std::string_view::npos;
  };
  const bool page = opens("<!doctype") || opens("<html") || opens("<svg");
  const bool xml = opens("<?xml") || text.starts_with("<!--");
  if (page || (xml && (text.find("<svg") != std::string::npos ||
                       text.find("<html") != std::string::npos))) {
    return refused("pages and pictures cannot be read back",
                   "convert from the .jprof of the capture");
  }
  return xml ? refused("this is XML, which holds no profile", "give the .jprof of a capture")
             : base::Error{};
}

// What people pass by mistake and is not text; empty for what may be text.
base::Error foreign_bytes(std::string_view bytes) {
  if (const std::string_view packer = packer_of(bytes); !packer.empty()) {
    return refused("this is compressed with " + std::string(packer), "decompress it first");
  }
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    return refused("this text is in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | jprof convert - ...");
  }
  if (bytes.starts_with(std::string_view("FLR\0", 4)) || bytes.starts_with("PERFILE2")) {
    return refused("recordings of other tools cannot be read",
                   bytes[0] == 'F' ? "JFR: asprof's converter gives folded text"
                                   : "perf script -i FILE | jprof convert - ...");
  }
  if (base::Error document = markup(bytes); !document.message.empty()) {
    return document;
  }
  const base::Status text = check_text(bytes);
  return text ? base::Error{} : text.error();
}

// A file of which nothing could be read is an error: an empty profile would look like an idle
// program.
base::Result<profile::Profile> with_samples(profile::Recording recording) {
  if (!recording.health.complete && !recording.profile.has_samples()) {
    return base::fail(refused(recording.profile.info().damage,
                              "copy the .jprof again from where it was recorded or stored"));
  }
  return std::move(recording.profile);
}

base::Error empty_recording(std::string_view bytes, std::string_view name) {
  return bytes.empty() && name.ends_with(".jprof")
             ? refused("the recording is empty",
                       "copy the .jprof again from where it was recorded or stored")
             : base::Error{};
}

// The same of text, once it has turned out that no line of it is a stack: "<init> 5" is one.
base::Error foreign_text(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  const char first = begin == std::string_view::npos ? '\0' : bytes[begin];
  if (first == '{' || first == '[') {
    return refused("this JSON is not speedscope's", "\"shared\" and \"profiles\" are missing");
  }
  return first == '<' ? refused("this is XML or the like, which holds no profile",
                                "give the .jprof of a capture")
                      : base::Error{};
}

// A file that cannot be read: it is the caller who named it.
base::Error callers_mistake(base::Error error) {
  if (error.cure.empty()) {
    error.cure = error.code == base::ErrorCode::kNotFound
                     ? "name a file that exists; a relative name counts from the working directory"
                 : error.code == base::ErrorCode::kPermission
                     ? "let this user read it, or run as one who may"
                     : "name a file that can be read";
  }
  if (error.code != base::ErrorCode::kLimit) {
    error.code = base::ErrorCode::kUsage;
  }
  return error;
}

base::Result<Input> unpacked(Input input) {
  if (!is_packed(input.bytes)) {
    return input;
  }
  auto text = unpack(input.bytes);
  if (!text) {
    return base::fail(std::move(text).error().with_context(input.name));
  }
  return Input{std::move(input.name), std::move(*text)};
}

bool is_folded_for_sure(std::string_view beginning) {
  const std::size_t at = beginning.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && beginning[at] != '{' &&
         content_of(beginning) == Content::kFolded && foreign_bytes(beginning).message.empty() &&
         foreign_text(beginning).message.empty();
}

// Calls visit(line) for each line of a file, from its beginning, until it says false.
template <typename Visit>
base::Status each_line_of(int fd, const std::string& name, Visit visit) {
  std::string buffer(kPiece, '\0');
  std::size_t kept = 0; // of a line whose end is not there yet
  for (off_t offset = 0;;) {
    if (kept == buffer.size()) {
      buffer.resize(2 * buffer.size());
    }
    const ssize_t got = ::pread(fd, buffer.data() + kept, buffer.size() - kept, offset);
    if (got < 0) {
      return base::errno_failure(errno, "cannot read " + name);
    }
    offset += got;
    std::string_view text(buffer.data(), kept + static_cast<std::size_t>(got));
    for (std::size_t end = text.find('\n', kept); end != std::string_view::npos;
         end = text.find('\n')) {
      if (!visit(text.substr(0, end))) {
        return {};
      }
      text.remove_prefix(end + 1);
    }
    if (got == 0) {
      if (!text.empty()) {
        visit(text);
      }
      return {};
    }
    kept = text.size();
    std::memmove(buffer.data(), text.data(), kept);
  }
}

base::Result<profile::Profile> read_folded_file(int fd, const std::string& path) {
  render::ColumnCounter counter;
  JPROF_TRY(each_line_of(fd, path, [&](std::string_view line) { return counter.line(line); }));
  render::CollapsedReader reader(base_name(path), counter.columns());
  TextCheck check;
  base::Status text;
  JPROF_TRY(each_line_of(fd, path, [&](std::string_view line) {
    check.add(line);
    text = check.verdict();
    if (text) {
      reader.line(line);
    }
    return text.has_value();
  }));
  if (!text) {
    return base::fail(std::move(text).error().with_context(path));
  }
  auto profile = reader.finish();
  if (!profile) {
    return base::fail(std::move(profile).error().with_context(path));
  }
  return profile;
}

} // namespace

base::Result<profile::Profile> read_any(std::string_view bytes, std::string_view name,
                                        profile::FrameLines lines) {
  const std::string_view title = base_name(name);
  auto profile = [&]() -> base::Result<profile::Profile> {
    if (base::Error empty = empty_recording(bytes, name); !empty.message.empty()) {
      return base::fail(std::move(empty));
    }
    const Content content = content_of(bytes);
    if (base::Error foreign = content == Content::kRecording ? base::Error{} : foreign_bytes(bytes);
        !foreign.message.empty()) {
      return base::fail(std::move(foreign));
    }
    switch (content) {
    case Content::kRecording: {
      JPROF_TRY_ASSIGN(profile::Recording recording,
                       profile::read_recording(bytes, {.lines = lines}));
      return with_samples(std::move(recording));
    }
    case Content::kPerfScript:
      return render::read_perf_script(bytes, title);
    case Content::kThreadDump:
      return render::read_thread_dumps(bytes, title);
    case Content::kSpeedscope:
      return render::read_speedscope(bytes, title);
    case Content::kFolded:
      break;
    }
    auto folded = render::read_collapsed(bytes, title);
    if (base::Error foreign = foreign_text(bytes); !folded && !foreign.message.empty()) {
      return base::fail(std::move(foreign));
    }
    return folded;
  }();
  if (!profile) {
    return base::fail(std::move(profile).error().with_context(std::string(name)));
  }
  return profile;
}

base::Result<Input> read_input(const std::string& path) {
  if (path == "-") {
    JPROF_TRY_ASSIGN(std::string bytes,
                     base::read_all(STDIN_FILENO, kMaxFileBytes, "standard input"));
    return unpacked({"standard input", std::move(bytes)});
  }
  JPROF_TRY_ASSIGN(std::string bytes,
                   base::read_file(path, kMaxFileBytes).map_error(callers_mistake));
  return unpacked({path, std::move(bytes)});
}

base::Result<profile::Profile> read_profile(const std::string& path, profile::FrameLines lines) {
  struct stat info {};
  // Asked before it is opened: a pipe that is opened twice would break.
  if (path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<std::uint64_t>(info.st_size) <= kMaxFileBytes) {
    JPROF_TRY_ASSIGN(const base::UniqueFd fd, base::open_read(path).map_error(callers_mistake));
    std::string beginning(kPiece, '\0');
    const ssize_t got = ::pread(fd.get(), beginning.data(), beginning.size(), 0);
    beginning.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (is_folded_for_sure(beginning)) {
      return read_folded_file(fd.get(), path);
    }
  }
  JPROF_TRY_ASSIGN(const Input input, read_input(path));
  return read_any(input.bytes, input.name, lines);
}

base::Result<Folded> folded_text(Input input, KindSuffixes suffixes, std::string_view event) {
  Folded folded;
  if (content_of(input.bytes) == Content::kFolded) {
    for (base::Error foreign :
         {empty_recording(input.bytes, input.name), foreign_bytes(input.bytes)}) {
      if (!foreign.message.empty()) {
        return base::fail(std::move(foreign).with_context(input.name));
      }
    }
    const auto ignored = render::ignored_lines(input.bytes, render::count_columns(input.bytes));
    if (ignored.count() > 0) {
      folded.left_out.push_back(std::string(render::kIgnoredLines) + ": " + ignored.text());
    }
    if (!event.empty()) {
      return base::fail(no_events(event, input.name));
    }
    folded.was_folded = true;
    folded.text = std::move(input.bytes);
    return folded;
  }
  JPROF_TRY_ASSIGN(const profile::Profile profile, read_any(input.bytes, input.name));
  JPROF_TRY_ASSIGN(const profile::EventId shown, find_event(profile, event, input.name));
  folded.unit = profile.event_info(shown).unit;
  folded.left_out = render::left_out_of(profile, shown);
  folded.damage = profile.info().damage;
  folded.text = render::write_collapsed(profile, {.suffix = suffixes == KindSuffixes::kYes
                                                                ? render::KindSuffix::kAnnotate
                                                                : render::KindSuffix::kNone,
                                                  .event = shown});
  return folded;
}

} // namespace jprof::formats
