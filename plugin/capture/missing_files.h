// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/formats/format_writer.h"
#include "plugin/capture/output_plan.h"
#include "plugin/capture/received_files.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::plugin {

// What can be made of a recording: pages, pictures, texts.
bool is_derived(std::string_view format);

// Takes out of `received` what can be derived, for good: a page runs a script on the laptop, a text
// goes to a terminal, and the pod that sent them may be hostile. The formats that were taken out.
std::set<std::string> drop_derived(std::vector<ReceivedFiles::File>& received);

// Outputs that are to be made here: those that are always wanted, those that are wanted if the
// sidecar has them (`dropped`), and, for a store, all.
std::vector<const Output*> missing_outputs(const std::vector<Output>& outputs,
                                           std::vector<ReceivedFiles::File>& received,
                                           const std::set<std::string>& dropped, bool for_store);

// Renders each of them here, of the recording, beside where it is to be; what it makes and reads
// goes to the end of `files`. `fetch` gets the recording if it is not among `files` yet. An output
// that cannot be made leaves the recording there in its stead, under the output's name with
// another ending unless it is wanted (`recording_wanted`) and kept anyway, and is the error that is
// returned. `threads`: of what holds no threads of its own (formats::WriteOptions).
base::Status make_outputs(const std::vector<const Output*>& missing,
                          std::vector<ReceivedFiles::File>& files, bool recording_wanted,
                          formats::ThreadRoots threads,
                          const std::function<base::Status(ReceivedFiles& recording)>& fetch);

} // namespace jprof::plugin
