// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/elf/byte_source.h"

#include <memory>

namespace jprof::symbols {

// A copy of the kernel's own library as it is mapped in this process: every process of the machine
// (of the same ABI) has the same one. Null if there is none.
std::unique_ptr<elf::ByteSource> copy_vdso();

} // namespace jprof::symbols
