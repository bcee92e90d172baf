// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/jvm/java_command.h"
#include "sidecar/jvm/target.h"

namespace jprof::jvm {

// Files that the target's options name, read below its root: regular files of at most 1 MiB. The
// function must not outlive `target`.
OptionFile option_files(const Target& target);

// The flags in force, as far as they can be read: command line, JAVA_TOOL_OPTIONS,
// JDK_JAVA_OPTIONS, _JAVA_OPTIONS and the files that these name, in the order in which a JVM
// applies them. What cannot be read counts as not given.
JvmFlags read_flags(const Target& target);

} // namespace jprof::jvm
