// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/recording_file.h"

#include "lib/base/encoding.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace jprof::record {

base::Result<RecordingFile> RecordingFile::create(const std::string& path) {
  base::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return base::errno_failure(errno, "cannot create " + path);
  }
  return RecordingFile(std::move(fd), path);
}

base::Status RecordingFile::append(std::string_view bytes) {
  if (bytes.size() > most_bytes_ - bytes_) {
    return base::make_failure(base::ErrorCode::kLimit, path_ + " may have " +
                                                           std::to_string(most_bytes_) +
                                                           " bytes and would have more");
  }
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return base::errno_failure(errno, "cannot write " + path_);
    }
    // The digest is of what is in the file, also after a short write.
    const auto size = static_cast<std::size_t>(wrote);
    digest().update(bytes.substr(0, size));
    bytes_ += size;
    bytes.remove_prefix(size);
  }
  return {};
}

base::Status RecordingFile::sync() const {
  if (::fsync(fd_.get()) != 0) {
    return base::errno_failure(errno, "cannot sync " + path_);
  }
  return {};
}

base::Sha256Stream& RecordingFile::digest() {
  if (!digest_) {
    digest_ = std::make_unique<base::Sha256Stream>();
  }
  return *digest_;
}

std::string RecordingFile::sha256_hex() {
  const base::Sha256 sum = digest().finish();
  return base::hex(base::as_text(sum));
}

void RecordingFile::remove() {
  ::unlink(path_.c_str());
}

} // namespace jprof::record
