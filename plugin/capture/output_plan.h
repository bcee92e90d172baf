// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::plugin {

// A file that the user gets.
struct Output {
  std::string format; // "html", "collapsed", ...: what the sidecar is asked for
  std::string path;   // empty: default_path
  // kIfSent: kept like kAlways, but nobody misses it.
  // kUnlessStored: fetched because a store gets every file of a capture; kept only if that fails.
  // kNever: comes with the rest, and nobody asked for it.
  enum class Keep { kAlways, kIfSent, kUnlessStored, kNever } keep = Keep::kAlways;
};

// The `-o FILE`s of a command; none of them is one HTML page. kUsage for an ending that names no
// format, for a bare word (`-o json`) and for two files of one format.
base::Result<std::vector<Output>> plan_outputs(const std::vector<std::string>& files);

// Every format that an ending names.
std::vector<std::string> all_formats();

// The directory of each path can take files, so that a typo does not cost a capture. kUsage.
base::Status check_places(const std::vector<Output>& outputs);

// "jprof-<pod>-<label>.<format>" in the working directory. Nothing of it comes from the pod but its
// name, which Kubernetes restricts and of which other bytes become '-'.
std::string default_path(std::string_view pod, std::string_view label, std::string_view format);
// The label of a new capture: "20261121T100000Z".
std::string time_label(std::chrono::system_clock::time_point time);

// "dir/out.html" becomes "dir/out.jprof": where the recording goes if it has no place of its own.
std::string recording_path(const Output& output);

// For one of several pods: "out.html" becomes "out-<pod>.html".
std::string path_for_pod(const std::string& path, std::string_view format, std::string_view pod);

// The format of a file that a sidecar names, by its ending; empty where there is none of ours.
std::string format_of(std::string_view name);

} // namespace jprof::plugin
