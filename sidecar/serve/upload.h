// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/store/object_store.h"
#include "sidecar/serve/serve_context.h"

#include <memory>
#include <stop_token>

namespace jprof::serve {

// The store that the configuration names, with credentials from the mounted file.
base::Result<std::unique_ptr<store::ObjectStore>> open_store(const config::StoreSettings& settings,
                                                             std::stop_token stop);

// How a round of deliveries ended, as the exit code of the process that does it.
enum class UploadResult {
  kAllDelivered = 0,
  kRetry = 1,   // the store or the network was in the way
  kBlocked = 2, // credentials, rights or configuration: worth a retry every ten minutes
};

// kAfterFailure starts at a random place, so that no capture waits for ever behind others that
// fail.
enum class Round { kOldestFirst, kAfterFailure };

// Delivers every sealed capture, each once. A damaged one goes to quarantine, and so does one whose
// key is taken by something else; one that fails otherwise waits, and the others do not wait for
// it. The round ends when many fail in a row.
UploadResult deliver_pending(spool::Spool& spool, store::ObjectStore& store,
                             Round round = Round::kOldestFirst);

} // namespace jprof::serve
