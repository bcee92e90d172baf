// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/upload.h"

#include "lib/base/random.h"
#include "lib/delivery/bundle_delivery.h"
#include "lib/log/log.h"
#include "lib/store/store_factory.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace jprof::serve {
namespace {

using base::ErrorCode;

bool is_transient(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kProtocol || code == ErrorCode::kInterrupted || code == ErrorCode::kIo;
}

// After this many captures in a row, the store is the problem, not the captures. An attempt that
// nobody answers costs half a minute, a refusal a moment.
constexpr int kMaxUnanswered = 3;
constexpr int kMaxRefused = 30;

constexpr const char* kUncheckedCure =
    "allow the sidecar's credentials s3:GetObject on the prefix; until then the spool keeps the "
    "capture, as long as spool.keep says";

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

namespace {

// Delivers, or says why not; what is hopeless goes to quarantine.
std::optional<base::Error> deliver_one(spool::Spool& spool, store::ObjectStore& store,
                                       const spool::Entry& entry) {
  auto delivered = delivery::deliver_bundle(store, entry.directory);
  if (delivered && !delivered->note.empty()) {
    // What has its key may be anybody's: as long as that is unknown, our copy is the capture.
    delivered = base::make_failure(ErrorCode::kForbidden, delivered->note, kUncheckedCure);
  }
  if (delivered) {
    if (auto moved = spool.deliver(entry.id); !moved) {
      log::error("capture " + entry.id + " is stored, but " + moved.error().message);
      return std::move(moved).error();
    }
    log::info("capture " + entry.id + " is stored as " + delivered->location +
              (delivered->already_there ? " (it was there already)" : ""));
    return std::nullopt;
  }
  base::Error& error = delivered.error();
  if (is_hopeless(error.code)) {
    log::error("capture " + entry.id + " is quarantined: " + error.text());
    if (auto moved = spool.quarantine(entry.id, error.text()); !moved) {
      return std::move(moved).error();
    }
    return std::nullopt;
  }
  log::warning("capture " + entry.id + " waits: cannot store it: " + error.text());
  return std::move(error);
}

} // namespace

UploadResult deliver_pending(spool::Spool& spool, store::ObjectStore& store, Round round) {
  std::vector<spool::Entry> entries = spool.list(spool::Place::kSealed);
  std::uint64_t random = 0;
  if (round == Round::kAfterFailure && !entries.empty() &&
      base::random_bytes(std::as_writable_bytes(std::span(&random, 1)))) {
    std::rotate(entries.begin(),
                entries.begin() + static_cast<std::ptrdiff_t>(random % entries.size()),
                entries.end());
  }
  UploadResult result = UploadResult::kAllDelivered;
  int failures = 0; // in a row
  for (const spool::Entry& entry : entries) {
    const auto error = deliver_one(spool, store, entry);
    if (!error) {
      failures = 0;
      continue;
    }
    const bool passes = is_transient(error->code);
    result =
        passes || result == UploadResult::kRetry ? UploadResult::kRetry : UploadResult::kBlocked;
    if (++failures >= (passes ? kMaxUnanswered : kMaxRefused)) {
      break;
    }
  }
  return result;
}

} // namespace jprof::serve
