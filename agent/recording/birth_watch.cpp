// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/birth_watch.h"

#include "agent/engines/cpu_timer.h"
#include "agent/os/process.h"
#include "agent/os/system.h"

namespace jprof::agent::recording {
namespace {

// 0.1 us each (kernel 6.18): about a thousandth of a CPU.
constexpr std::uint32_t kProbesPerSecond = 8192;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
// RESERVED_PIDS in the kernel's pid.c: where ids continue after the highest.
constexpr std::int32_t kFirstAnew = 300;
constexpr std::uint32_t kTooMany = kProbesPerSecond + 1;

std::int32_t read_end(const char* path) {
  const int fd = os::open_readonly(path);
  if (fd < 0) {
    return 0;
  }
  char text[32] = {};
  os::read_at(fd, text, sizeof text - 1, 0);
  os::close_fd(fd);
  const char* end = text;
  const std::uint64_t value = os::parse_number(text, &end);
  return value <= 0x7fffffff ? static_cast<std::int32_t>(value) : 0;
}

} // namespace

void BirthWatch::open(const char* path, const char* highest) {
  *this = BirthWatch{};
  fd_ = os::open_readonly(path);
  last_ = read_last();
  before_last_ = last_;
  opened_at_ = last_;
  end_ = read_end(highest);
  if (last_ == 0) {
    close();
  }
}

void BirthWatch::close() {
  if (fd_ >= 0) {
    os::close_fd(fd_);
    fd_ = -1;
  }
}

// "0.52 0.58 0.59 1/1213 48377": the last number; 0 if the file says something else.
std::int32_t BirthWatch::read_last() const {
  char text[128];
  const long got = fd_ >= 0 ? os::read_at(fd_, text, sizeof text - 1, 0) : 0;
  if (got <= 0) {
    return 0;
  }
  text[got] = 0;
  const char* at = text;
  for (unsigned blanks = 0; *at != 0 && blanks < 4; ++at) {
    blanks += *at == ' ' ? 1U : 0U;
  }
  const char* end = at;
  const std::uint64_t last = os::parse_number(at, &end);
  return end != at && last <= 0x7fffffff ? static_cast<std::int32_t>(last) : 0;
}

bool BirthWatch::may_probe(std::uint64_t now_ns, std::uint32_t count) {
  if (now_ns >= second_ends_ns_) {
    second_ends_ns_ = now_ns + kSecondNs;
    probes_left_ = kProbesPerSecond;
  }
  if (count > probes_left_) {
    return false;
  }
  probes_left_ -= count;
  return true;
}

bool BirthWatch::look(std::uint64_t now_ns, void (*visit)(std::int32_t tid, void* context),
                      void* context) {
  const std::int32_t from = before_last_;
  const std::int32_t now_last = read_last();
  if (now_last == 0) {
    return false;
  }
  went_round_ = went_round_ || (wrapped_ && (now_last < last_ || now_last >= opened_at_));
  wrapped_ = wrapped_ || now_last < last_;
  before_last_ = last_;
  last_ = now_last;
  const std::uint32_t count = count_from(from);
  if (!may_probe(now_ns, count)) {
    before_last_ = now_last;
    return false;
  }
  std::int32_t tid = from;
  for (std::uint32_t i = 0; i < count; ++i) {
    tid = tid + 1 != end_ ? tid + 1 : kFirstAnew;
    if (engines::has_cpu_clock(tid)) {
      visit(tid, context);
    }
  }
  return true;
}

// How many ids have been given out since `from`.
std::uint32_t BirthWatch::count_from(std::int32_t from) const {
  if (last_ >= from) {
    return static_cast<std::uint32_t>(last_ - from);
  }
  const bool known = from < end_ && last_ >= kFirstAnew;
  return known ? static_cast<std::uint32_t>(end_ - 1 - from + last_ - kFirstAnew + 1) : kTooMany;
}

bool BirthWatch::is_since(std::int32_t last, std::int32_t tid) const {
  return is_between(last, read_last(), tid);
}

bool BirthWatch::is_between(std::int32_t from, std::int32_t to, std::int32_t tid) {
  return to >= from ? tid > from && tid <= to : tid > from || tid <= to;
}

} // namespace jprof::agent::recording
