// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/delivery/bundle_delivery.h"

#include "lib/base/file.h"
#include "lib/capture/bundle.h"
#include "lib/capture/object_key.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace jprof::delivery {
namespace {

std::string content_type_of(std::string_view name) {
  if (name.ends_with(".html")) {
    return "text/html; charset=utf-8";
  }
  if (name.ends_with(".json")) {
    return "application/json";
  }
  if (name.ends_with(".svg")) {
    return "image/svg+xml";
  }
  if (name.ends_with(".collapsed") || name.ends_with(".txt")) {
    return "text/plain; charset=utf-8";
  }
  return "application/octet-stream";
}

base::Result<store::PutReceipt> put_file(store::ObjectStore& store, const std::string& path,
                                         const std::string& key_text,
                                         const store::PutOptions& options) {
  JPROF_TRY_ASSIGN(const auto key, store::ObjectKey::parse(key_text));
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return base::errno_failure(errno, "cannot open " + path);
  }
  const http::FileBody body(fd.get(), 0, static_cast<std::uint64_t>(info.st_size));
  JPROF_TRY_ASSIGN(const base::Sha256 sha256, store::digest_of(body));
  return store.put(key, {body, sha256}, options);
}

} // namespace

base::Result<Delivery> deliver_bundle(store::ObjectStore& store, const std::string& directory) {
  JPROF_TRY_ASSIGN(const capture::Manifest manifest, capture::verify_bundle(directory));
  JPROF_TRY_ASSIGN(const std::string prefix, capture::object_directory("", manifest));
  std::vector<std::string> names;
  for (const capture::BundleFile& file : manifest.files) {
    names.push_back(file.name);
  }
  names.emplace_back(capture::kManifestFile); // last: the commit marker
  Delivery delivery;
  delivery.already_there = true;
  std::vector<store::PutReceipt::Outcome> outcomes;
  for (const std::string& name : names) {
    store::PutOptions options;
    options.content_type = content_type_of(name);
    options.tags = {{"jprof-trigger", std::string(capture::trigger_tag(manifest))}};
    JPROF_TRY_ASSIGN(const store::PutReceipt receipt,
                     put_file(store, directory + "/" + name, prefix + "/" + name, options));
    delivery.already_there &= receipt.outcome != store::PutReceipt::Outcome::kCreated;
    outcomes.push_back(receipt.outcome);
    delivery.location = receipt.location.substr(0, receipt.location.rfind('/'));
  }
  for (const capture::BundleFile& file : manifest.files) {
    delivery.bytes += file.bytes;
  }
  delivery.note = store::unchecked_note(outcomes);
  return delivery;
}

} // namespace jprof::delivery
