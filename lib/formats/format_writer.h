// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format.h"
#include "lib/profile/profile.h"
#include "lib/render/thread_roots.h"

#include <string>
#include <string_view>

namespace jprof::formats {

// What pictures call the counts of folded text, and the factor by which they multiply them for
// display.
struct CountWords {
  std::string name; // "samples", "bytes", "ms"
  double factor = 1;
};
CountWords count_words(profile::Unit unit);

using render::ThreadRoots;

struct WriteOptions {
  std::string title; // for pages and pictures; empty: the profile's own
  // For folded stacks, pictures and trees: pages and recordings hold the threads themselves. kUsage
  // for a profile that does not know them.
  ThreadRoots threads = ThreadRoots::kNone;
  // Recordings keep all events.
  profile::EventId event = profile::kFirstEvent;
};

// What --threads was given as: "", "thread" or "pool".
ThreadRoots thread_roots(std::string_view word);
inline constexpr const char* kThreadsHelp =
    "A root frame for each thread's name in .collapsed, .svg, .txt and .json; "
    "--threads=pool: for each pool, worker-* for worker-1 and worker-2";

// A profile in another format: the bytes of a file. One function for `jprof convert`, for what a
// capture derives, and for the plugin.
base::Result<std::string> write_as(const profile::Profile& profile, Format format,
                                   const WriteOptions& options = {});

} // namespace jprof::formats
