// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/profile/profile.h"

#include <string_view>

namespace jprof::render {

bool looks_like_thread_dump(std::string_view text);

// One or more thread dumps (jstack, jcmd Thread.print, SIGQUIT) as a wall-clock profile: one sample
// for each Java thread with a stack in each dump, with its state. Dumps that begin with a date
// provide times. kInvalidData if there is no stack.
base::Result<profile::Profile> read_thread_dumps(std::string_view text, std::string_view title);

} // namespace jprof::render
