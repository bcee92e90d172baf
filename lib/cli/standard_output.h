// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

namespace jprof::cli {

// Standard input, output and error that were closed when we started become descriptors that can be
// neither read nor written. Otherwise the first file that we open would get the number 1, and what
// we print would go into it. Call it before anything is opened.
void occupy_standard_descriptors();

// Writes what stdout still holds. kIo if that, or anything printed before, did not get out: readers
// of our output must not mistake its absence for a result. The errno of earlier failures is
// unknown.
base::Status finish_standard_output();

} // namespace jprof::cli
