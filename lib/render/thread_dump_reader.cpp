// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/thread_dump_reader.h"

#include "lib/profile/profile_builder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace jprof::render {
namespace {

using profile::ThreadState;

constexpr std::string_view kDumpTitle = "Full thread dump";

template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, end - from);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    visit(line);
    from = end + 1;
  }
}

std::string_view after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + mark.size());
}

// "java.lang.Thread.State: TIMED_WAITING (sleeping)"
ThreadState state_of(std::string_view text) {
  if (text.starts_with("RUNNABLE")) {
    return ThreadState::kRunnable;
  }
  if (text.starts_with("BLOCKED")) {
    return ThreadState::kBlocked;
  }
  if (text.find("(sleeping)") != std::string_view::npos) {
    return ThreadState::kSleeping;
  }
  if (text.find("(parking)") != std::string_view::npos) {
    return ThreadState::kParked;
  }
  return text.find("WAITING") != std::string_view::npos ? ThreadState::kWaiting
                                                        : ThreadState::kUnknown;
}

// "2026-11-21 10:00:00" at the start of a line.
bool parse_date(std::string_view line, std::chrono::seconds& time) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const std::string text(line.substr(0, 19));
  if (text.size() < 19 || std::sscanf(text.c_str(), "%4d-%2u-%2u %2d:%2d:%2d", &year, &month, &day,
                                      &hour, &minute, &second) != 6) {
    return false;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  // Nanoseconds since 1970 overflow in 2262.
  if (!date.ok() || year < 1970 || year > 2261) {
    return false;
  }
  time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
  return true;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "app//java.base@17/a.B$$Lambda$14/0x0000000800c03000.run" is a.B$$Lambda$14.run: neither loader
// and module nor the address of a hidden class, which differs from run to run, are part of the
// name.
std::string method_of(std::string_view text) {
  std::string_view address;
  std::size_t slash = text.rfind('/');
  if (slash != std::string_view::npos && slash + 1 < text.size() && is_digit(text[slash + 1])) {
    address = text.substr(slash, text.find('.', slash) - slash);
    slash = slash == 0 ? std::string_view::npos : text.rfind('/', slash - 1);
  }
  std::string name(slash == std::string_view::npos ? text : text.substr(slash + 1));
  if (!address.empty()) {
    name.erase(name.find(address), address.size());
  }
  return name;
}

class DumpIntake {
 public:
  explicit DumpIntake(std::string_view title) { builder_.info().title = std::string(title); }

  void line(std::string_view line) {
    ++number_;
    std::chrono::seconds date{0};
    if (parse_date(line, date)) {
      date_ = date;
    } else if (line.starts_with(kDumpTitle)) {
      end_thread();
      ++dumps_;
      time_ = date_;
    } else if (line.starts_with('"')) {
      end_thread();
      begin_thread(line);
    } else if (line.empty()) {
      end_thread();
    } else if (open_) {
      detail(line);
    }
  }

  base::Result<profile::Profile> finish() {
    end_thread();
    if (samples_.empty()) {
      return base::make_failure(base::ErrorCode::kInvalidData,
                                "no thread has a stack in " + std::to_string(number_) + " lines",
                                "a dump is the output of jstack PID or jcmd PID Thread.print");
    }
    profile::ProfileInfo& info = builder_.info();
    info.events.front().name = "wall";
    info.has_threads = true;
    info.has_times = dated_ && dumps_ > 1;
    if (info.has_times) {
      info.duration = last_ - first_;
      info.start = std::chrono::system_clock::time_point(first_);
    }
    for (profile::Sample& sample : samples_) {
      sample.time = info.has_times ? sample.time - std::chrono::nanoseconds(first_)
                                   : std::chrono::nanoseconds(0);
      builder_.add_sample(sample);
    }
    info.facts.emplace_back("source", "thread dumps");
    info.facts.emplace_back("dumps", std::to_string(std::max<std::uint64_t>(dumps_, 1)));
    return builder_.build();
  }

 private:
  // "main" #1 prio=5 os_prio=0 ... tid=0x... nid=0x1a2b runnable: the name may contain quotes.
  void begin_thread(std::string_view line) {
    const std::size_t attributes = std::min(line.find("\" #"), line.find("\" "));
    const std::size_t close = attributes == std::string_view::npos
                                  ? line.rfind('"')
                                  : line.rfind('"', line.find(" tid="));
    if (close == 0 || close == std::string_view::npos) {
      return;
    }
    open_ = true;
    name_ = std::string(line.substr(1, close - 1));
    tid_ = 0;
    if (std::string_view nid = after(line.substr(close), "nid="); !nid.empty()) {
      const bool hex = nid.starts_with("0x");
      nid.remove_prefix(hex ? 2 : 0);
      std::from_chars(nid.data(), nid.data() + nid.size(), tid_, hex ? 16 : 10);
    }
    state_ = ThreadState::kUnknown;
    frames_.clear();
  }

  void detail(std::string_view line) {
    if (const std::string_view state = after(line, "java.lang.Thread.State: "); !state.empty()) {
      state_ = state_of(state);
      return;
    }
    const std::string_view frame = after(line, "\tat ");
    if (frame.empty() || !line.starts_with("\tat ")) {
      return;
    }
    const std::string name = method_of(frame.substr(0, frame.find('(')));
    const bool native = frame.find("(Native Method)") != std::string_view::npos;
    frames_.push_back(builder_.intern_frame(
        {.kind = native ? profile::FrameKind::kJavaNative : profile::FrameKind::kUnknown,
         .name = builder_.intern_string(name)}));
  }

  void end_thread() {
    if (!open_) {
      return;
    }
    open_ = false;
    if (frames_.empty()) {
      return;
    }
    // A dump without a date, or threads above the first title: no times at all. The order of the
    // file does not matter: dumps may be concatenated in any order.
    dated_ = dated_ && time_.count() > 0;
    first_ = samples_.empty() ? time_ : std::min(first_, time_);
    last_ = samples_.empty() ? time_ : std::max(last_, time_);
    std::reverse(frames_.begin(), frames_.end());
    const auto [entry, made] = threads_.try_emplace({tid_, name_}, profile::ThreadId{0});
    if (made) {
      entry->second = builder_.add_thread({.name = builder_.intern_string(name_), .tid = tid_});
    }
    samples_.push_back({.time = std::chrono::nanoseconds(time_),
                        .thread = entry->second,
                        .stack = builder_.intern_stack(frames_),
                        .state = state_,
                        .weight = 1});
  }

  profile::ProfileBuilder builder_;
  std::map<std::pair<std::uint32_t, std::string>, profile::ThreadId> threads_;
  std::vector<profile::Sample> samples_;
  std::vector<profile::FrameId> frames_;
  std::string name_;
  std::uint32_t tid_ = 0;
  ThreadState state_ = ThreadState::kUnknown;
  bool open_ = false;
  bool dated_ = true;
  std::chrono::seconds date_{0};
  std::chrono::seconds time_{0};
  std::chrono::seconds first_{0};
  std::chrono::seconds last_{0};
  std::uint64_t dumps_ = 0;
  std::uint64_t number_ = 0;
};

} // namespace

bool looks_like_thread_dump(std::string_view text) {
  const std::string_view begin = text.substr(0, 1 << 16);
  return begin.find(kDumpTitle) != std::string_view::npos &&
         begin.find("java.lang.Thread.State: ") != std::string_view::npos;
}

base::Result<profile::Profile> read_thread_dumps(std::string_view text, std::string_view title) {
  DumpIntake intake(title);
  each_line(text, [&](std::string_view line) { intake.line(line); });
  return intake.finish();
}

} // namespace jprof::render
