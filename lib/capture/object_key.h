// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/capture/manifest.h"

#include <string>
#include <string_view>

namespace jprof::capture {

// Where a capture's files lie in a store, without a slash at either end:
//   [<prefix>/]v1/<cluster>/<namespace>/<kind>.<workload>/<yyyy>/<mm>/<dd>/
//       <hhmmss>Z-<pod>-<container>-<id>
// The same manifest gives the same key. What is not known is "unknown"; a bare pod is "pod.<name>".
// Each segment is made of [A-Za-z0-9._=-], at most 128 bytes, never "." or "..": other bytes become
// '-', and of long names the end is cut, never of the id. kUsage for a prefix that is no such path
// or a key above 900 bytes.
base::Result<std::string> object_directory(std::string_view prefix, const Manifest& manifest);

// The tag `jprof-trigger=<value>`, "manual" for what is no known trigger.
std::string_view trigger_tag(const Manifest& manifest);

} // namespace jprof::capture
