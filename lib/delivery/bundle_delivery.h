// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/manifest.h"
#include "lib/store/object_store.h"

#include <cstdint>
#include <string>

namespace jprof::delivery {

struct Delivery {
  std::string location; // of the capture's directory, for people
  std::uint64_t bytes = 0;
  bool already_there = false; // every object was: an earlier attempt whose answer was lost
  std::string note;           // what could not be verified; "" if nothing
};

// Puts a committed bundle (capture::commit_bundle) into a store under its key: every file is first
// read and compared with the manifest (kInvalidData: damaged, nothing is sent), and the manifest is
// put last. Returns when the store has confirmed everything; after a failure it may be called
// again. kAlreadyExists: the key holds something else. `store` knows its own prefix.
base::Result<Delivery> deliver_bundle(store::ObjectStore& store, const std::string& directory);

} // namespace jprof::delivery
