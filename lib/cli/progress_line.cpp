// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/progress_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace jprof::cli {
namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kMinColumns = 20;
constexpr std::size_t kColumnsForBar = 60; // on a narrower terminal the words need the room
constexpr std::size_t kBarColumns = 20;
constexpr std::array kSpinner{'|', '/', '-', '\\'};

std::size_t terminal_columns(std::size_t otherwise) {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kMinColumns;
  return known ? size.ws_col : otherwise;
}

std::string bar(double done) {
  const double part = std::clamp(done, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(kBarColumns));
  return "[" + std::string(full, '#') + std::string(kBarColumns - full, ' ') + "] ";
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

} // namespace

std::string fit_columns(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t last = 0; // where the text would be cut to make room for the mark
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_continuation(text[i])) {
      continue;
    }
    if (used + 1 == columns) {
      last = i;
    }
    if (++used > columns) {
      return std::string(text.substr(0, last)) + "…";
    }
  }
  return std::string(text);
}

ProgressLine::Mode ProgressLine::mode_of_stderr() {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !dumb ? Mode::kTerminal : Mode::kLines;
}

ProgressLine::ProgressLine(Mode mode, std::size_t slots)
    : mode_(mode), slots_(slots), columns_(terminal_columns(kUsualColumns)) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::erase() {
  // Back to the first line, then clear to the end of the screen: no colours, so NO_COLOR is
  // respected.
  if (drawn_ > 0) {
    std::fputs("\r", stderr);
    if (drawn_ > 1) {
      std::fprintf(stderr, "\x1b[%zuA", drawn_ - 1);
    }
    std::fputs("\x1b[J", stderr);
  }
  drawn_ = 0;
}

void ProgressLine::draw() {
  erase();
  columns_ = terminal_columns(columns_);
  const char spinner = kSpinner[turn_++ % kSpinner.size()];
  for (const Slot& slot : slots_) {
    if (slot.text.empty()) {
      continue;
    }
    std::string line{spinner, ' '};
    if (slot.done && columns_ >= kColumnsForBar) {
      line += bar(*slot.done);
    }
    line += slot.text;
    std::fprintf(stderr, "%s%s", drawn_ > 0 ? "\n" : "", fit_columns(line, columns_ - 1).c_str());
    ++drawn_;
  }
  std::fflush(stderr);
}

void ProgressLine::update(std::size_t slot, std::string_view phase, std::string text,
                          std::optional<double> done) {
  const std::scoped_lock lock(mutex_);
  Slot& one = slots_[slot];
  const bool changed = one.phase != phase;
  one.phase = phase;
  one.text = std::move(text);
  one.done = done;
  if (mode_ == Mode::kTerminal) {
    draw();
  } else if (mode_ == Mode::kLines && changed && !one.text.empty()) {
    std::fprintf(stderr, "%s\n", one.text.c_str());
  }
}

void ProgressLine::clear() {
  const std::scoped_lock lock(mutex_);
  if (mode_ == Mode::kTerminal) {
    erase();
    std::fflush(stderr);
  }
  for (Slot& slot : slots_) {
    slot.text.clear();
  }
}

} // namespace jprof::cli
