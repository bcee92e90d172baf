// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/output_plan.h"

#include "lib/base/encoding.h"
#include "lib/base/timestamp.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;

constexpr std::array<std::string_view, 7> kFormats{"html", "collapsed", "svg",  "pb.gz",
                                                   "jfr",  "json",      "jprof"};

std::string known_endings() {
  std::string out;
  for (const std::string_view format : kFormats) {
    out += (out.empty() ? "." : ", .") + std::string(format);
  }
  return out;
}

std::string safe(std::string_view text) {
  std::string out(text.substr(0, 200));
  std::replace_if(
      out.begin(), out.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '.' || c == '-');
      },
      '-');
  return out;
}

} // namespace

std::vector<std::string> all_formats() {
  return {kFormats.begin(), kFormats.end()};
}

std::string format_of(std::string_view name) {
  for (const std::string_view format : kFormats) {
    const std::string ending = "." + std::string(format);
    if (name.size() > ending.size() && name.ends_with(ending)) {
      return std::string(format);
    }
  }
  return {};
}

base::Result<std::vector<Output>> plan_outputs(const std::vector<std::string>& files) {
  std::vector<Output> out;
  for (const std::string& file : files) {
    const std::string format = format_of(file);
    if (format.empty()) {
      const bool bare = std::find(kFormats.begin(), kFormats.end(), file) != kFormats.end();
      return base::make_failure(
          ErrorCode::kUsage,
          "-o " + base::printable(file) + ": -o needs a file name whose ending gives the format",
          bare && file == "json" ? "--json prints the result as JSON; -o profile.json writes a file"
                                 : "endings: " + known_endings());
    }
    for (const Output& other : out) {
      if (other.format == format) {
        return base::make_failure(ErrorCode::kUsage, "-o is given twice for ." + format,
                                  "each format is written once: copy the file");
      }
    }
    out.push_back({format, file, Output::Keep::kAlways});
  }
  if (out.empty()) {
    out.push_back({"html", "", Output::Keep::kAlways});
  }
  return out;
}

base::Status check_places(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    const auto slash = output.path.rfind('/');
    const std::string directory =
        slash == std::string::npos ? "." : output.path.substr(0, slash == 0 ? 1 : slash);
    if (::access(directory.c_str(), W_OK | X_OK) != 0) {
      base::Error error = base::errno_error(errno, "cannot create " + output.path);
      error.code = ErrorCode::kUsage;
      return base::fail(std::move(error).with_cure("choose another place with -o"));
    }
  }
  return {};
}

std::string default_path(std::string_view pod, std::string_view label, std::string_view format) {
  return "jprof-" + safe(pod) + "-" + safe(label) + "." + std::string(format);
}

std::string time_label(std::chrono::system_clock::time_point time) {
  std::string stamp = base::format_utc(time); // 2026-11-21T10:00:00Z
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return stamp;
}

std::string recording_path(const Output& output) {
  return output.path.substr(0, output.path.size() - output.format.size()) + "jprof";
}

std::string path_for_pod(const std::string& path, std::string_view format, std::string_view pod) {
  const std::size_t stem = path.size() - format.size() - 1;
  return path.substr(0, stem) + "-" + safe(pod) + path.substr(stem);
}

} // namespace jprof::plugin
