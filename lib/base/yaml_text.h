// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"

#include <string>

namespace jprof::base {

// The value as block-style YAML 1.2 that every parser reads back the same: strings are quoted as
// JSON strings (which YAML contains) unless they are plain words.
std::string to_yaml(const Json& value);

} // namespace jprof::base
