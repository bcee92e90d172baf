// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/recording_file.h"

#include "lib/base/encoding.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace jprof::record {

namespace {

const char* cure_for(int os_errno) {
  switch (os_errno) {
  case ENOSPC:
  case EDQUOT:
    return "make room there, or write to another file system";
  case EFBIG:
    return "raise the limit on the size of files (ulimit -f)";
  default:
    return "write to another file system; dmesg may tell what is wrong with this one";
  }
}

} // namespace

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
      const int error = errno;
      return base::fail(
          base::errno_error(error, "cannot write " + path_).with_cure(cure_for(error)));
    }
    // The digest is of what is in the file, also after a short write.
    const auto size = static_cast<std::size_t>(wrote);
    digest().update(bytes.substr(0, size));
    bytes_ += size;
    bytes.remove_prefix(size);
  }
  drop_from_cache();
  return {};
}

// The kernel begins to write what is dirty and drops what it has written before: nobody waits.
void RecordingFile::drop_from_cache() {
  constexpr std::uint64_t kStep = 1U << 20U;
  if (leave_no_cache_ && bytes_ - dropped_at_ >= kStep) {
    static_cast<void>(::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED));
    dropped_at_ = bytes_;
  }
}

void drop_from_cache(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) {
    static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
  }
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
