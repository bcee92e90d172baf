// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/recording_file.h"

#include "lib/base/encoding.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
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
    return "write to another file system; dmesg may say what is wrong with this one";
  }
}

} // namespace

base::Result<RecordingFile> RecordingFile::create(const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return base::errno_failure(errno, "cannot create " + path);
  }
  return RecordingFile(std::move(fd), path);
}

base::Status RecordingFile::append(std::string_view bytes) {
  if (base::Status room = take_room(bytes.size()); !room) {
    reserve_ = 0;
    return room;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t wrote =
        ::pwrite(fd_.get(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(bytes_ + at));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      const int error = errno;
      static_cast<void>(::ftruncate(fd_.get(), static_cast<off_t>(bytes_)));
      reserve_ = 0;
      return refusal(error);
    }
    at += static_cast<std::size_t>(wrote);
  }
  digest().update(bytes);
  bytes_ += bytes.size();
  drop_from_cache();
  return {};
}

base::Status RecordingFile::refusal(int os_errno) const {
  return base::fail(
      base::errno_error(os_errno, "cannot write " + path_).with_cure(cure_for(os_errno)));
}

// If the file system cannot reserve blocks, the write itself shows what is wrong.
base::Status RecordingFile::take_room(std::uint64_t bytes) {
  if (bytes > max_bytes_ - bytes_) {
    return base::make_failure(base::ErrorCode::kLimit, path_ + " may have at most " +
                                                           std::to_string(max_bytes_) +
                                                           " bytes and would exceed that");
  }
  const std::uint64_t wanted = bytes + reserve_;
  rlimit sizes{};
  if (::getrlimit(RLIMIT_FSIZE, &sizes) == 0 && bytes_ + wanted > sizes.rlim_cur) {
    return refusal(EFBIG); // fallocate() checks that limit only when it makes a file longer
  }
  if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(bytes_),
                  static_cast<off_t>(wanted)) != 0 &&
      (errno == ENOSPC || errno == EDQUOT)) {
    return refusal(errno);
  }
  return {};
}

// The kernel starts to write dirty pages and drops those that it has already written: nobody waits.
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

base::Status RecordingFile::sync() {
  // Gives the reserve back: some file systems do it on one of these calls, some on the other.
  static_cast<void>(::ftruncate(fd_.get(), static_cast<off_t>(bytes_)));
  static_cast<void>(::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
                                static_cast<off_t>(bytes_), static_cast<off_t>(kReserve)));
  reserve_ = 0;
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
