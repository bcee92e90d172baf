// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::cli {

// Progress on standard error: on a terminal, a line for each slot (a pod, or the one JVM) that is
// redrawn in place, with a spinner and, where it is known how much is done, a bar; elsewhere, one
// line each time the kind of a slot's state changes. Texts must already be printable. Thread-safe.
class ProgressLine {
 public:
  enum class Mode { kTerminal, kLines, kSilent };
  // kTerminal if stderr is one and TERM is not "dumb".
  static Mode mode_of_stderr();

  ProgressLine(Mode mode, std::size_t slots);
  // Clears what is on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `phase` names the kind of state, `text` is what is shown; empty: nothing. `done`, from 0 to 1,
  // is drawn as a bar.
  void update(std::size_t slot, std::string_view phase, std::string text,
              std::optional<double> done = {});
  void clear();

 private:
  struct Slot {
    std::string phase;
    std::string text;
    std::optional<double> done;
  };
  void draw();
  void erase();

  const Mode mode_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::size_t drawn_ = 0; // lines on the terminal
  std::size_t turn_ = 0;  // of the spinner
  std::size_t columns_;   // as last seen: a sandbox may not let us ask
};

// At most this many columns of UTF-8 text; the rest is cut off and marked by "…".
std::string fit_columns(std::string_view text, std::size_t columns);

} // namespace jprof::cli
