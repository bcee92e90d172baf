// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/delivery.h"

#include "lib/base/encoding.h"
#include "lib/capture/manifest.h"
#include "lib/capture/object_key.h"
#include "lib/store/object_store.h"
#include "lib/store/store_factory.h"
#include "lib/store/store_url.h"

#include <algorithm>
#include <memory>
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

// The manifest names every file that the bundle must have, so those that were not fetched would
// make it one that never verifies.
base::Status check_complete(const capture::Manifest& manifest,
                            const std::vector<ReceivedFiles::File>& files) {
  for (const capture::BundleFile& entry : manifest.files) {
    const ReceivedFiles::File* file = find_file(files, entry.name);
    if (file == nullptr || file->sha256 != entry.sha256) {
      return base::make_failure(ErrorCode::kProtocol, "the sidecar did not send " +
                                                          base::printable(entry.name) +
                                                          " as its manifest has it");
    }
  }
  return {};
}

Result<std::unique_ptr<store::ObjectStore>> open_store(const std::string& store_url) {
  JPROF_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(store_url));
  return store::make_object_store(url, {});
}

Result<store::PutReceipt> put_file(store::ObjectStore& target, const std::string& directory,
                                   const capture::Manifest& manifest,
                                   const ReceivedFiles::File& file) {
  JPROF_TRY_ASSIGN(const store::ObjectKey key,
                   store::ObjectKey::parse(directory + "/" + file.name));
  JPROF_TRY_ASSIGN(const base::Sha256 digest, digest_from_hex(file.sha256));
  const http::FileBody body(file.pending.fd(), 0, file.bytes);
  return target.put(key, {body, digest}, put_options(manifest, content_type(file.format)));
}

} // namespace

base::Status check_store(const std::string& store_url) {
  JPROF_TRY(open_store(store_url));
  return {};
}

Result<StoredCapture> store_capture(const std::string& store_url, const base::Json& manifest_json,
                                    std::vector<ReceivedFiles::File>& files) {
  JPROF_TRY_ASSIGN(const capture::Manifest manifest, capture::manifest_from_json(manifest_json));
  JPROF_TRY(check_complete(manifest, files));
  JPROF_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> target, open_store(store_url));
  JPROF_TRY_ASSIGN(const std::string directory, capture::object_directory("", manifest));
  std::vector<store::PutReceipt::Outcome> outcomes;
  for (const capture::BundleFile& entry : manifest.files) {
    JPROF_TRY_ASSIGN(const store::PutReceipt file,
                     put_file(*target, directory, manifest, *find_file(files, entry.name)));
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
