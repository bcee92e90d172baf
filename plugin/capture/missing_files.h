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

// What can be made from a recording: pages, pictures, texts.
bool is_derived(std::string_view format);

// Removes from `received`, for good, whatever can be derived: a page runs a script on the laptop, a
// text goes to a terminal, and the pod that sent them may be hostile. Returns the formats that it
// removed.
std::set<std::string> drop_derived(std::vector<ReceivedFiles::File>& received);

// Outputs to be made here: those that are always wanted, those that are wanted if the sidecar has
// them (`dropped`), and, for a store, all.
std::vector<const Output*> missing_outputs(const std::vector<Output>& outputs,
                                           std::vector<ReceivedFiles::File>& received,
                                           const std::set<std::string>& dropped, bool for_store);

// Renders each of them here, from the recording, next to its final place; appends what it makes and
// reads to `files`. `fetch` gets the recording if `files` does not contain it yet. If an output
// cannot be made, the recording takes its place, under the output's name with another ending,
// unless the recording is kept anyway (`recording_wanted`); the error is returned. `threads`
// applies to formats that carry no threads of their own (formats::WriteOptions).
base::Status make_outputs(const std::vector<const Output*>& missing,
                          std::vector<ReceivedFiles::File>& files, bool recording_wanted,
                          formats::ThreadRoots threads,
                          const std::function<base::Status(ReceivedFiles& recording)>& fetch);

} // namespace jprof::plugin
