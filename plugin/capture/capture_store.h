// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"
#include "plugin/capture/received_files.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace jprof::plugin {

struct StoredCapture {
  std::string location; // for people
  std::string note;     // what could not be verified; "" if nothing
};

// How long a store may be silent, who is told, and who may end the wait.
struct StoreWait {
  std::chrono::milliseconds patience{60'000};
  // Called about once a second while nothing moves, with the time since the last byte. From another
  // thread.
  std::function<void(std::chrono::seconds)> on_silence;
  const Interrupt* interrupt = nullptr; // a later Ctrl-C ends it with kInterrupted
};

// Puts a capture into a store under its key, with the caller's own credentials: its files first,
// the manifest last, as the mark that everything is there. kUsage if the URL is not valid,
// otherwise the store's own errors. Repeating it is harmless: what is already there is compared.
base::Result<StoredCapture> store_capture(const std::string& store_url, const base::Json& manifest,
                                          std::vector<ReceivedFiles::File>& files,
                                          const StoreWait& wait);

// --store-timeout: kUsage for less than a second.
base::Result<std::chrono::milliseconds> store_patience(const std::string& text);

// Refuses, before anything is captured, an invalid URL, credentials that are missing or that the
// store does not know, a bucket that does not exist, an untrusted certificate, and anything that
// does not answer as a store (ObjectStore::check).
base::Status check_store(const std::string& store_url, const StoreWait& wait);

} // namespace jprof::plugin
