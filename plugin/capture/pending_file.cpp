// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/capture/pending_file.h"

#include "lib/base/random.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <utility>

namespace jprof::plugin {
namespace {

constexpr int kMostNames = 100;

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : (slash == 0 ? "/" : path.substr(0, slash));
}

std::string base_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "dir/a-b.html", 2 -> "dir/a-b-2.html".
std::string numbered(const std::string& path, int number) {
  const std::string base = base_of(path);
  const auto dot = base.rfind('.');
  const std::size_t at = path.size() - (dot == std::string::npos ? 0 : base.size() - dot);
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

} // namespace

base::Result<PendingFile> PendingFile::create(const std::string& path) {
  JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(10));
  PendingFile out;
  out.path_ = path;
  const std::string temporary = directory_of(path) + "/." + base_of(path) + "." + suffix;
  out.fd_.reset(
      ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!out.fd_) {
    base::Error failed = base::errno_error(errno, "cannot create " + path);
    failed.code = base::ErrorCode::kIo;
    return base::fail(std::move(failed).with_cure("choose another place with -o"));
  }
  out.temporary_ = temporary;
  return out;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)), size_(other.size_) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

base::Status PendingFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      const int error = errno;
      base::Error failed = base::errno_error(error, "cannot write " + path_);
      failed.code = base::ErrorCode::kIo;
      return base::fail(std::move(failed));
    }
    size_ += static_cast<std::uint64_t>(wrote);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

base::Status PendingFile::truncate(std::uint64_t size_bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)) != 0) {
    return base::errno_failure(errno, "cannot shorten " + path_);
  }
  size_ = size_bytes;
  return {};
}

base::Result<std::string> PendingFile::commit_as(const std::string& path, base::Replace replace) {
  path_ = path;
  return commit(replace);
}

base::Result<std::string> PendingFile::commit(base::Replace replace) {
  if (::fsync(fd_.get()) != 0) {
    return base::errno_failure(errno, "cannot sync " + path_);
  }
  std::string name = path_;
  if (replace == base::Replace::kAllow) {
    if (::rename(temporary_.c_str(), name.c_str()) != 0) {
      return base::errno_failure(errno, "cannot create " + name);
    }
  } else {
    // link(2) refuses a name that exists on every POSIX system.
    for (int number = 2; ::link(temporary_.c_str(), name.c_str()) != 0; ++number) {
      if (errno != EEXIST || number > kMostNames) {
        return base::errno_failure(errno, "cannot create " + name);
      }
      name = numbered(path_, number);
    }
    ::unlink(temporary_.c_str());
  }
  temporary_.clear();
  JPROF_TRY(base::sync_directory(directory_of(name)));
  return name;
}

} // namespace jprof::plugin
