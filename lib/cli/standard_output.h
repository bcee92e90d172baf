// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

namespace jprof::cli {

// Standard input, output and error that were closed when we started become descriptors that can
// neither be read nor written. Else the first file that we open would get the number 1, and what we
// print would go into it. To be called before anything is opened.
void occupy_standard_descriptors();

// Writes what stdout still holds. kIo if that, or anything printed before, did not get out: whoever
// reads our output must not take its lack for a result. errno of earlier failures is not known.
base::Status finish_standard_output();

} // namespace jprof::cli
