// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/delivery/stored_capture.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"

#include <algorithm>
#include <utility>

namespace jprof::delivery {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxRecordingBytes = std::size_t{2} << 30;

base::Result<store::ObjectKey> key_of(std::string_view directory, std::string_view name) {
  return store::ObjectKey::parse(
      directory.empty() ? std::string(name) : std::string(directory) + "/" + std::string(name));
}

} // namespace

base::Result<StoredCapture> open_stored(store::ObjectStore& store, std::string_view directory) {
  JPROF_TRY_ASSIGN(const store::ObjectKey key, key_of(directory, capture::kManifestFile));
  const base::Result<std::string> text = store::get_text(store, key, capture::kMaxManifestBytes);
  if (!text) {
    base::Error error = text.error();
    if (error.code == ErrorCode::kNotFound && error.cure.empty()) {
      error.cure = "a capture's directory holds a manifest.json; it is written last";
    }
    return base::fail(std::move(error));
  }
  base::Result<capture::Manifest> manifest = capture::parse_manifest(*text);
  if (!manifest) {
    return base::fail(std::move(manifest).error().with_context(key.text()));
  }
  return StoredCapture{std::string(directory), std::move(*manifest)};
}

base::Result<StoredCapture> find_stored(store::ObjectStore& store, std::string_view id) {
  const std::string ending = "-" + std::string(id) + "/" + capture::kManifestFile;
  std::string found;
  const auto visit = [&](const store::ObjectKey& key, std::uint64_t) -> base::Status {
    if (!key.text().ends_with(ending)) {
      return {};
    }
    found = key.text().substr(0, key.text().rfind('/'));
    return base::make_failure(ErrorCode::kInterrupted, "found"); // ends the listing
  };
  const base::Status listed = store.list("", visit);
  if (!found.empty()) {
    return open_stored(store, found);
  }
  if (!listed) {
    return base::fail(listed.error());
  }
  return base::make_failure(ErrorCode::kNotFound,
                            "no capture " + base::printable(id) + " in " + store.describe(),
                            "a capture is there once its manifest.json is; is this its store?");
}

base::Result<std::string> read_stored_recording(store::ObjectStore& store,
                                                const StoredCapture& stored) {
  const auto& files = stored.manifest.files;
  const auto file = std::ranges::find(files, "jprof", &capture::BundleFile::format);
  if (file == files.end()) {
    return base::make_failure(ErrorCode::kNotFound,
                              "capture " + stored.manifest.id + " has no recording");
  }
  JPROF_TRY_ASSIGN(const store::ObjectKey key, key_of(stored.directory, file->name));
  JPROF_TRY_ASSIGN(std::string bytes, store::get_text(store, key, kMaxRecordingBytes));
  if (bytes.size() != file->bytes || base::sha256_hex(bytes) != file->sha256) {
    return base::make_failure(ErrorCode::kInvalidData,
                              key.text() +
                                  " is damaged: it is not the file that its manifest describes");
  }
  return bytes;
}

} // namespace jprof::delivery
