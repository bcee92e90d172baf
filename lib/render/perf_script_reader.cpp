// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/perf_script_reader.h"

#include "lib/base/text.h"
#include "lib/profile/profile_builder.h"
#include "lib/render/left_out.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jprof::render {
namespace {

using profile::FrameKind;

// A number with more digits is not a period: it would be 31 years.
constexpr std::size_t kMaxPeriodDigits = 18;
constexpr std::string_view kNoPart = "it is not part of a sample";

// The line above a stack: "java 12345/12346 [001] 1234.567890:   10000 cpu-clock:u:". Pid, CPU and
// period may be missing (perf script -F decides).
struct Header {
  std::string_view comm;
  std::uint32_t tid = 0;
  std::chrono::nanoseconds time{0};
  bool has_time = false;
  std::uint64_t period = 0;
  std::string_view event;
};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename Number>
Number number_of(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = base::trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// "1234.567890:" with any number of decimals up to nine.
bool parse_time(std::string_view word, std::chrono::nanoseconds& time) {
  if (!word.ends_with(':')) {
    return false;
  }
  word.remove_suffix(1);
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos || !is_digits(word.substr(0, dot)) ||
      !is_digits(word.substr(dot + 1)) || word.size() - dot - 1 > 9 || dot > 9) {
    return false;
  }
  std::string fraction(word.substr(dot + 1));
  fraction.resize(9, '0');
  time = std::chrono::seconds(number_of<std::int64_t>(word.substr(0, dot))) +
         std::chrono::nanoseconds(number_of<std::int64_t>(fraction));
  return true;
}

// "12346" or "12345/12346".
bool parse_ids(std::string_view word, std::uint32_t& tid) {
  const std::size_t slash = word.find('/');
  if (!is_digits(word.substr(0, slash)) ||
      (slash != std::string_view::npos && !is_digits(word.substr(slash + 1)))) {
    return false;
  }
  tid = number_of<std::uint32_t>(slash == std::string_view::npos ? word : word.substr(slash + 1));
  return true;
}

// The name may contain spaces ("C2 CompilerThre"), so the search for the ids starts at the second
// word.
bool parse_header(std::string_view line, Header& header) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t' || line[0] == '#') {
    return false;
  }
  const std::vector<std::string_view> words = words_of(line);
  std::size_t at = 1;
  while (at < words.size() && !parse_ids(words[at], header.tid)) {
    ++at;
  }
  if (at >= words.size()) {
    return false;
  }
  header.comm =
      base::trimmed(line.substr(0, static_cast<std::size_t>(words[at].data() - line.data())));
  for (++at; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (parse_time(word, header.time)) {
      header.has_time = true;
    } else if (is_digits(word)) {
      if (word.size() > kMaxPeriodDigits) {
        return false;
      }
      header.period = number_of<std::uint64_t>(word);
    } else if (word.size() > 1 && word.ends_with(':')) {
      header.event = word.substr(0, word.size() - 1);
    }
  }
  return header.has_time || !header.event.empty();
}

// A frame begins with its address, or, without -F +ip, ends with its module.
bool is_frame(std::string_view content) {
  const std::string_view word = content.substr(0, content.find_first_of(" \t"));
  return word.find_first_not_of("0123456789abcdef") == std::string_view::npos ||
         content.ends_with(')');
}

FrameKind kind_of(std::string_view module) {
  if (module.starts_with("[kernel") || module.starts_with("[guest.kernel") ||
      module.ends_with(".ko") || module.find("vmlinux") != std::string_view::npos) {
    return FrameKind::kKernel;
  }
  if (module.ends_with(".map") && module.find("perf-") != std::string_view::npos) {
    return FrameKind::kUnknown; // a JIT compiler wrote this map: Java, of an unknown tier
  }
  return module.ends_with("libjvm.so") ? FrameKind::kVm : FrameKind::kNative;
}

class PerfIntake {
 public:
  explicit PerfIntake(std::string_view title) {
    builder_.info().title = std::string(title);
    builder_.info().has_times = true;
    builder_.info().has_threads = true;
  }

  void line(std::string_view text) {
    ++number_;
    const std::string_view content = base::trimmed(text);
    if (content.empty()) {
      end_sample();
      skipping_ = false;
    } else if (Header header; parse_header(text, header)) {
      end_sample();
      begin_sample(header);
    } else if (open_ && is_frame(content)) {
      add_frame(content);
    } else if (!skipping_ && text[0] != '#') {
      ignored_.note(number_, kNoPart);
    }
  }

  base::Result<profile::Profile> finish() {
    end_sample();
    if (samples_ == 0) {
      return base::make_failure(
          base::ErrorCode::kInvalidData,
          ignored_.count() == 0
              ? "no perf script sample in " + std::to_string(number_) + " lines"
              : "line " + std::to_string(ignored_.first()) + ": no perf script sample begins here",
          "a sample is a line such as \"java 12/13 1.000001: 1 cpu-clock:\" with its stack below "
          "it");
    }
    // Times count from the earliest sample, which may come late: perf merges the buffers of several
    // CPUs.
    for (profile::Sample& sample : samples_read_) {
      sample.time -= first_;
      builder_.add_sample(sample);
    }
    profile::ProfileInfo& info = builder_.info();
    info.events.front().name = event_;
    info.events.front().unit = in_time_ ? profile::Unit::kNanoseconds : profile::Unit::kSamples;
    info.duration = last_ - first_;
    info.facts.emplace_back("source", "perf script");
    if (ignored_.count() > 0) {
      info.facts.emplace_back(kIgnoredLines, ignored_.text());
    }
    if (other_events_ > 0) {
      info.facts.emplace_back(kOtherEvents, std::to_string(other_events_));
    }
    return builder_.build();
  }

 private:
  void begin_sample(const Header& header) {
    if (samples_ == 0 && !open_) {
      event_ = std::string(header.event);
      in_time_ = event_.find("cpu-clock") != std::string::npos ||
                 event_.find("task-clock") != std::string::npos;
      in_time_ = in_time_ && header.period > 0;
      first_ = header.time;
    } else if (header.event != event_) {
      ++other_events_;
      skipping_ = true;
      return;
    }
    first_ = std::min(first_, header.time);
    open_ = true;
    current_ = header;
    frames_.clear();
  }

  // "ffffffff8104 do_syscall_64+0x5 ([kernel.kallsyms])": address, symbol with offset, module.
  void add_frame(std::string_view text) {
    const std::size_t blank = text.find_first_of(" \t");
    std::string_view rest =
        blank == std::string_view::npos ? std::string_view() : base::trimmed(text.substr(blank));
    std::string_view module;
    if (const std::size_t open = rest.rfind(" (");
        rest.ends_with(')') && open + 2 < rest.size() && open != std::string_view::npos) {
      module = rest.substr(open + 2, rest.size() - open - 3);
      rest = base::trimmed(rest.substr(0, open));
    }
    if (const std::size_t plus = rest.rfind("+0x"); plus != std::string_view::npos) {
      rest = rest.substr(0, plus);
    }
    std::string name(rest);
    if (name.empty() || name == "[unknown]") {
      const std::size_t slash = module.rfind('/');
      name = module.empty() || module == "[unknown]"
                 ? "[unknown]"
                 : "[" +
                       std::string(module.substr(slash == std::string_view::npos ? 0 : slash + 1)) +
                       "]";
    }
    frames_.push_back(builder_.intern_frame({.kind = kind_of(module),
                                             .name = builder_.intern_string(name),
                                             .owner = builder_.intern_string(module)}));
  }

  void end_sample() {
    if (!std::exchange(open_, false)) {
      return;
    }
    frames_.push_back(builder_.intern_frame(
        {.kind = FrameKind::kThread, .name = builder_.intern_string(current_.comm)}));
    std::reverse(frames_.begin(), frames_.end());
    samples_read_.push_back({.time = current_.time,
                             .thread = thread(current_),
                             .stack = builder_.intern_stack(frames_),
                             .weight = in_time_ ? current_.period : 1});
    last_ = std::max(last_, current_.time);
    ++samples_;
  }

  profile::ThreadId thread(const Header& header) {
    const auto [entry, made] =
        threads_.try_emplace({header.tid, std::string(header.comm)}, profile::ThreadId{0});
    if (made) {
      entry->second =
          builder_.add_thread({.name = builder_.intern_string(header.comm), .tid = header.tid});
    }
    return entry->second;
  }

  profile::ProfileBuilder builder_;
  std::map<std::pair<std::uint32_t, std::string>, profile::ThreadId> threads_;
  std::vector<profile::FrameId> frames_;
  std::vector<profile::Sample> samples_read_;
  Header current_;
  std::string event_;
  bool open_ = false;
  bool in_time_ = false;
  std::chrono::nanoseconds first_{0};
  std::chrono::nanoseconds last_{0};
  bool skipping_ = false; // within a sample of another event
  std::uint64_t number_ = 0;
  LeftOut ignored_;
  std::uint64_t samples_ = 0;
  std::uint64_t other_events_ = 0;
};

template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (!visit(text.substr(from, end - from))) {
      return;
    }
    from = end + 1;
  }
}

} // namespace

bool looks_like_perf_script(std::string_view text) {
  int lines = 0;
  bool found = false;
  each_line(text, [&](std::string_view line) {
    Header header;
    found = parse_header(line, header) && (header.has_time || header.period > 0);
    return !found && ++lines < 200;
  });
  return found;
}

base::Result<profile::Profile> read_perf_script(std::string_view text, std::string_view title) {
  PerfIntake intake(title);
  each_line(text, [&](std::string_view line) {
    intake.line(line);
    return true;
  });
  return intake.finish();
}

} // namespace jprof::render
