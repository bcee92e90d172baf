// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/capture/manifest.h"
#include "lib/store/object_store.h"

#include <string>
#include <string_view>

namespace jprof::delivery {

// A stored capture: the directory of its key and what its manifest says. The bytes of its files
// have yet to be fetched.
struct StoredCapture {
  std::string directory; // a key beneath the store's root; empty: the root itself
  capture::Manifest manifest;
};

// The capture whose files are directly beneath `directory` ("" for the store's root). kNotFound if
// there is no manifest: then it is not, or not yet, a capture. kInvalidData for a damaged one.
base::Result<StoredCapture> open_stored(store::ObjectStore& store, std::string_view directory);

// Searches the store for the capture with this id. Every key is listed until it is found: in a
// large store a narrower prefix is much faster. kNotFound names the store.
base::Result<StoredCapture> find_stored(store::ObjectStore& store, std::string_view id);

// The recording of a capture, compared with its manifest: kInvalidData unless it is identical, byte
// by byte. At most 2 GiB (kLimit).
base::Result<std::string> read_stored_recording(store::ObjectStore& store,
                                                const StoredCapture& stored);

} // namespace jprof::delivery
