// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/log/log.h"

#include "lib/base/encoding.h"
#include "lib/base/json.h"

#include <fmt/chrono.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <ctime>
#include <memory>

namespace jprof::log {
namespace {

constexpr std::size_t kMaxMessageLength = 2048;
std::atomic<Format> g_format{Format::kText};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("jprof",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum native(Level level) {
  switch (level) {
  case Level::kDebug:
    return spdlog::level::debug;
  case Level::kInfo:
    return spdlog::level::info;
  case Level::kWarning:
    return spdlog::level::warn;
  case Level::kError:
    break;
  }
  return spdlog::level::err;
}

std::string_view word(Level level) {
  switch (level) {
  case Level::kDebug:
    return "debug";
  case Level::kInfo:
    return "info";
  case Level::kWarning:
    return "warning";
  case Level::kError:
    break;
  }
  return "error";
}

void write(Level level, std::string_view message) {
  if (!logger().should_log(native(level))) {
    return;
  }
  const std::string clean = base::printable(message, kMaxMessageLength);
  if (g_format.load(std::memory_order_relaxed) == Format::kText) {
    const std::string prefix = level == Level::kInfo ? "" : std::string(word(level)) + ": ";
    logger().log(native(level), "jprof: {}{}", prefix, clean);
    return;
  }
  const base::Json line = {{"time", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                           {"level", word(level)},
                           {"message", clean}};
  logger().log(native(level), "{}", base::dump_json(line));
}

} // namespace

void configure(Level least, Format format) {
  logger().set_level(native(least));
  g_format.store(format, std::memory_order_relaxed);
}

void debug(std::string_view message) {
  write(Level::kDebug, message);
}
void info(std::string_view message) {
  write(Level::kInfo, message);
}
void warning(std::string_view message) {
  write(Level::kWarning, message);
}
void error(std::string_view message) {
  write(Level::kError, message);
}

} // namespace jprof::log
