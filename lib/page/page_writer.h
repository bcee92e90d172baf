// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string>

namespace jprof::page {

struct PageOptions {
  std::string title;                                  // empty: the profile's own
  profile::EventId event = profile::kFirstEvent;      // the one that it shows
  profile::EventId base_event = profile::kFirstEvent; // ... of the base, where there are two
};

// The capture page: one self-contained HTML file that works from disk without a network. Equal
// profiles give equal bytes. Nothing of the profile is markup: names live in a base64 block, what
// stands in the HTML itself (title, facts, the top methods for browsers without script) is escaped.
// Fails with kLimit when a part of the profile does not fit the format (2^32 bytes).
base::Result<std::string> write_page(const profile::Profile& profile,
                                     const PageOptions& options = {});

// The same page with two captures: what changed from `base` to `changed`.
base::Result<std::string> write_diff_page(const profile::Profile& base,
                                          const profile::Profile& changed,
                                          const PageOptions& options = {});

// A page without a capture, which shows those that are dropped onto it.
std::string write_viewer_page();

// Where `open --viewer` writes it unless told otherwise.
inline constexpr const char* kViewerName = "jprof-viewer.html";

} // namespace jprof::page
