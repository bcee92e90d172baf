// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "sidecar/jvm/heap_dump.h"

#include <functional>
#include <string>

namespace jprof::sidecar {

// Whether a heap dump may become `path`, checked before the JVM is asked: its directory is writable
// and the name is free (a JVM would not replace a file either).
base::Status check_dump_path(const std::string& path);

// Copies the dump to `path`, mode 0600: it holds what the application holds. It grows as
// PATH.partial, which is kept and named if the copy fails half-way (kPartialCapture).
base::Status keep_dump(const jvm::HeapDump& dump, const std::string& path,
                       const std::function<bool()>& stopped);

} // namespace jprof::sidecar
