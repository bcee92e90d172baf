// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "plugin/capture/output_plan.h"
#include "plugin/capture/received_files.h"

#include <functional>
#include <string>
#include <vector>

namespace jprof::plugin {

// Outputs that are always wanted, and that the sidecar's result does not have: it was killed in
// mid-capture and found its own recording again, or joined a capture that was asked for others.
std::vector<const Output*> missing_outputs(const std::vector<Output>& outputs,
                                           std::vector<ReceivedFiles::File>& received);

// Renders each of them here, of the recording, beside where it is to be; what it makes and reads
// goes to the end of `files`. `fetch` gets the recording if it is not among `files` yet. An output
// that cannot be made leaves the recording there in its stead, under the output's name with
// another ending, and is the error that is returned.
base::Status make_outputs(const std::vector<const Output*>& missing,
                          std::vector<ReceivedFiles::File>& files,
                          const std::function<base::Status(ReceivedFiles& recording)>& fetch);

} // namespace jprof::plugin
