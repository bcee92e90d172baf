// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/upload.h"

#include "lib/delivery/bundle_delivery.h"
#include "lib/log/log.h"
#include "lib/store/store_factory.h"

#include <utility>

namespace jprof::serve {
namespace {

using base::ErrorCode;

bool is_transient(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kProtocol || code == ErrorCode::kInterrupted || code == ErrorCode::kIo;
}

// Nothing that trying again could change.
bool is_hopeless(ErrorCode code) {
  return code == ErrorCode::kInvalidData || code == ErrorCode::kAlreadyExists;
}

} // namespace

base::Result<std::unique_ptr<store::ObjectStore>> open_store(const config::StoreSettings& settings,
                                                             std::stop_token stop) {
  JPROF_TRY_ASSIGN(store::StoreUrl url, store::parse_store_url(settings.url));
  if (!settings.region.empty()) {
    url.region = settings.region;
  }
  if (!settings.endpoint.empty()) {
    JPROF_TRY_ASSIGN(url.endpoint, http::parse_url(settings.endpoint));
  }
  if (settings.path_style) {
    url.addressing = store::Addressing::kPath;
  }
  if (url.kind == store::StoreUrl::Kind::kS3 && settings.credentials.empty()) {
    return base::make_failure(ErrorCode::kConfigInvalid, "the sidecar's store has no credentials",
                              "mount a Secret and name its file as store.credentials");
  }
  store::StoreOptions options;
  options.credentials_path = settings.credentials;
  options.tls.ca_file = settings.ca_file;
  options.stop = std::move(stop);
  return store::make_object_store(url, std::move(options));
}

UploadResult deliver_pending(spool::Spool& spool, store::ObjectStore& store) {
  UploadResult result = UploadResult::kAllDelivered;
  for (const spool::Entry& entry : spool.list(spool::Place::kSealed)) {
    auto delivered = delivery::deliver_bundle(store, entry.directory);
    if (delivered) {
      if (auto moved = spool.deliver(entry.id); !moved) {
        log::error("capture " + entry.id + " is stored, but " + moved.error().message);
        return UploadResult::kRetry;
      }
      log::info("capture " + entry.id + " is stored as " + delivered->location +
                (delivered->already_there ? " (it was there already)" : ""));
      if (!delivered->note.empty()) {
        log::warning("capture " + entry.id + ": " + delivered->note);
      }
      continue;
    }
    const base::Error& error = delivered.error();
    if (is_hopeless(error.code)) {
      log::error("capture " + entry.id + " is quarantined: " + error.text());
      if (!spool.quarantine(entry.id, error.text())) {
        result = UploadResult::kRetry;
      }
      continue;
    }
    log::warning("capture " + entry.id + " waits: cannot store it: " + error.text());
    return is_transient(error.code) ? UploadResult::kRetry : UploadResult::kBlocked;
  }
  return result;
}

} // namespace jprof::serve
