// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::plugin {

// A file for the user.
struct Output {
  std::string format; // "html", "collapsed", ...: what the sidecar is asked for
  std::string path;   // empty: default_path
  // kIfSent: kept like kAlways, but its absence is no error.
  // kUnlessStored: fetched because a store gets every file of a capture; kept only if storing
  // fails.
  // kNever: comes with the rest, although nobody asked for it.
  enum class Keep { kAlways, kIfSent, kUnlessStored, kNever } keep = Keep::kAlways;
};

// The `-o FILE`s of a command; without any, one HTML page. kUsage for an ending that names no
// format, for a bare word (`-o json`) and for two files of one format.
base::Result<std::vector<Output>> plan_outputs(const std::vector<std::string>& files);

// Every format that an ending names.
std::vector<std::string> all_formats();

// Checks that the directory of each path accepts files, so that a typo does not cost a capture.
// kUsage.
base::Status check_places(const std::vector<Output>& outputs);

// "jprof-<pod>-<label>.<format>" in the working directory. Only the pod's name comes from the pod:
// Kubernetes restricts it, and any other byte in it becomes '-'.
std::string default_path(std::string_view pod, std::string_view label, std::string_view format);
// The label of a new capture: "20261121T100000Z".
std::string time_label(std::chrono::system_clock::time_point time);

// "dir/out.html" becomes "dir/out.jprof": where the recording goes if it has no place of its own.
std::string recording_path(const Output& output);

// For one of several pods: "out.html" becomes "out-<pod>.html".
std::string path_for_pod(const std::string& path, std::string_view format, std::string_view pod);

// The format of a file that a sidecar names, by its ending; empty if it is not one of ours.
std::string format_of(std::string_view name);

} // namespace jprof::plugin
