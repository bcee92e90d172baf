// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/capture_store.h"

#include "lib/base/duration.h"
#include "lib/base/encoding.h"
#include "lib/capture/manifest.h"
#include "lib/capture/object_key.h"
#include "lib/store/object_store.h"
#include "lib/store/store_factory.h"
#include "lib/store/store_url.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using base::Result;

std::string content_type(const std::string& format) {
  if (format == "html") {
    return "text/html; charset=utf-8";
  }
  if (format == "collapsed") {
    return "text/plain; charset=utf-8";
  }
  return format == "svg" ? "image/svg+xml" : "application/octet-stream";
}

Result<base::Sha256> digest_from_hex(const std::string& text) {
  base::Sha256 out{};
  const auto nibble = [](char c) {
    return static_cast<unsigned>(c >= 'a' ? c - 'a' + 10 : c - '0');
  };
  if (text.size() != 2 * out.size()) {
    return base::make_failure(ErrorCode::kProtocol, "a SHA-256 of the wrong length");
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>((nibble(text[2 * i]) << 4U) | nibble(text[2 * i + 1]));
  }
  return out;
}

const ReceivedFiles::File* find_file(const std::vector<ReceivedFiles::File>& files,
                                     const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&name](const auto& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

store::PutOptions put_options(const capture::Manifest& manifest, std::string type) {
  store::PutOptions out;
  out.content_type = std::move(type);
  out.tags = {{"jprof-trigger", std::string(capture::trigger_tag(manifest))}};
  return out;
}

// The manifest names every file that the bundle must contain, so files that were not fetched would
// make it one that never verifies.
base::Status check_complete(const capture::Manifest& manifest,
                            const std::vector<ReceivedFiles::File>& files) {
  for (const capture::BundleFile& entry : manifest.files) {
    const ReceivedFiles::File* file = find_file(files, entry.name);
    if (file == nullptr || file->sha256 != entry.sha256) {
      return base::make_failure(ErrorCode::kProtocol, "the sidecar did not send " +
                                                          base::printable(entry.name) +
                                                          " as its manifest describes it");
    }
  }
  return {};
}

Result<std::unique_ptr<store::ObjectStore>>
open_store(const std::string& store_url, std::chrono::milliseconds patience, std::stop_token stop) {
  JPROF_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(store_url));
  store::StoreOptions options;
  options.patience = patience;
  options.retry.max_delay = std::min(options.retry.max_delay, patience / 4);
  options.retry.max_retry_after = std::min(options.retry.max_retry_after, patience / 2);
  options.stop = std::move(stop);
  return store::make_object_store(url, std::move(options));
}

// Watches a store at work: reports when nothing moves, and passes Ctrl-C on.
class StoreWatch {
 public:
  explicit StoreWatch(const StoreWait& wait)
      : wait_(wait), interrupts_(wait.interrupt == nullptr ? 0 : wait.interrupt->count()),
        thread_([this](const std::stop_token& ended) { look_on(ended); }) {}

  void moved() { last_ = Clock::now().time_since_epoch().count(); }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kUnremarkable{5};
  static constexpr std::chrono::milliseconds kLook{200};

  void look_on(const std::stop_token& ended) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    std::chrono::seconds told{0};
    while (!never.wait_for(lock, ended, kLook, [] { return false; }) && !ended.stop_requested()) {
      if (wait_.interrupt != nullptr && wait_.interrupt->count() > interrupts_) {
        stop_.request_stop();
      }
      const auto silent = std::chrono::floor<std::chrono::seconds>(Clock::now().time_since_epoch() -
                                                                   Clock::duration(last_.load()));
      if (silent >= kUnremarkable && silent != told && wait_.on_silence) {
        told = silent;
        wait_.on_silence(silent);
      }
    }
  }

  const StoreWait& wait_;
  const int interrupts_;
  std::stop_source stop_;
  std::atomic<Clock::rep> last_{Clock::now().time_since_epoch().count()};
  std::jthread thread_; // last: it uses the others
};

// A body that notices, when it is read, that the store is accepting it.
class WatchedBody final : public http::BodySource {
 public:
  WatchedBody(const http::BodySource& body, StoreWatch& watch) : body_(body), watch_(watch) {}
  std::uint64_t size_bytes() const override { return body_.size_bytes(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const override {
    watch_.moved();
    return body_.read(offset, out);
  }

 private:
  const http::BodySource& body_;
  StoreWatch& watch_;
};

Result<store::PutReceipt> put_file(store::ObjectStore& target, const std::string& directory,
                                   const capture::Manifest& manifest,
                                   const ReceivedFiles::File& file, StoreWatch& watch) {
  JPROF_TRY_ASSIGN(const store::ObjectKey key,
                   store::ObjectKey::parse(directory + "/" + file.name));
  JPROF_TRY_ASSIGN(const base::Sha256 digest, digest_from_hex(file.sha256));
  const http::FileBody body(file.pending.fd(), 0, file.bytes);
  const WatchedBody watched(body, watch);
  return target.put(key, {watched, digest}, put_options(manifest, content_type(file.format)));
}

} // namespace

Result<std::chrono::milliseconds> store_patience(const std::string& text) {
  JPROF_TRY_ASSIGN(const std::chrono::nanoseconds time, base::parse_duration(text));
  if (time < std::chrono::seconds(1)) {
    return base::make_failure(ErrorCode::kUsage, "--store-timeout must be at least 1s",
                              "60s is the default");
  }
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

base::Status check_store(const std::string& store_url, const StoreWait& wait) {
  StoreWatch watch(wait);
  JPROF_TRY_ASSIGN(const auto target, open_store(store_url, wait.patience, watch.token()));
  return target->check();
}

Result<StoredCapture> store_capture(const std::string& store_url, const base::Json& manifest_json,
                                    std::vector<ReceivedFiles::File>& files,
                                    const StoreWait& wait) {
  JPROF_TRY_ASSIGN(const capture::Manifest manifest, capture::manifest_from_json(manifest_json));
  JPROF_TRY(check_complete(manifest, files));
  StoreWatch watch(wait);
  JPROF_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> target,
                   open_store(store_url, wait.patience, watch.token()));
  JPROF_TRY_ASSIGN(const std::string directory, capture::object_directory("", manifest));
  std::vector<store::PutReceipt::Outcome> outcomes;
  for (const capture::BundleFile& entry : manifest.files) {
    JPROF_TRY_ASSIGN(const store::PutReceipt file,
                     put_file(*target, directory, manifest, *find_file(files, entry.name), watch));
    watch.moved();
    outcomes.push_back(file.outcome);
  }
  JPROF_TRY_ASSIGN(const store::ObjectKey key,
                   store::ObjectKey::parse(directory + "/" + capture::kManifestFile));
  JPROF_TRY_ASSIGN(const store::PutReceipt receipt,
                   store::put_text(*target, key, capture::encode_manifest(manifest),
                                   put_options(manifest, "application/json")));
  outcomes.push_back(receipt.outcome);
  return StoredCapture{receipt.location.substr(0, receipt.location.rfind('/')),
                       store::unchecked_note(outcomes)};
}

} // namespace jprof::plugin
