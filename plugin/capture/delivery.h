// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"
#include "plugin/capture/received_files.h"

#include <string>
#include <vector>

namespace jprof::plugin {

struct StoredCapture {
  std::string location; // for people
  std::string note;     // what could not be made sure of; "" for nothing
};

// Puts a capture into a store under its key, its files first, the manifest last as the mark that
// all is there; with the caller's own credentials. kUsage for a URL that is none, else the store's
// own errors. Repeating it is harmless: what is there already is compared.
base::Result<StoredCapture> store_capture(const std::string& store_url, const base::Json& manifest,
                                          std::vector<ReceivedFiles::File>& files);

// Refuses a URL, or credentials that are missing, before anything is captured.
base::Status check_store(const std::string& store_url);

} // namespace jprof::plugin
