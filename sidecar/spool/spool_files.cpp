// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/spool_files.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/unique_fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

namespace jprof::spool {
namespace {

base::Status copy_synced(const std::string& from, const std::string& to) {
  JPROF_TRY_ASSIGN(const base::UniqueFd in, base::open_read(from));
  const base::UniqueFd out(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) {
    return base::errno_failure(errno, "cannot create " + to);
  }
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got < 0 && errno != EINTR) {
      return base::errno_failure(errno, "cannot read " + from);
    }
    if (got == 0) {
      break;
    }
    if (got > 0) {
      JPROF_TRY(base::write_all(out.get(), {buffer.data(), static_cast<std::size_t>(got)}, to));
    }
  }
  return ::fsync(out.get()) == 0 ? base::Status() : base::errno_failure(errno, "cannot sync " + to);
}

} // namespace

std::vector<std::string> names_in(const std::string& directory) {
  auto names = base::names_in(directory);
  return names ? *std::move(names) : std::vector<std::string>();
}

std::uint64_t bytes_in(const std::string& directory) {
  std::uint64_t sum = 0;
  for (const std::string& name : names_in(directory)) {
    struct stat info {};
    if (::lstat((directory + "/" + name).c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      sum += static_cast<std::uint64_t>(info.st_size);
    }
  }
  return sum;
}

std::uint64_t free_bytes(const std::string& directory) {
  struct statvfs disk {};
  return ::statvfs(directory.c_str(), &disk) == 0 ? std::uint64_t{disk.f_bavail} * disk.f_frsize
                                                  : UINT64_MAX; // then it cannot be told
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::chrono::system_clock::time_point changed_at(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0
             ? std::chrono::system_clock::from_time_t(info.st_ctim.tv_sec)
             : std::chrono::system_clock::time_point();
}

base::Status rewrite_files(const std::string& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const std::string copy = directory + "/.again-" + name;
    base::Status status = copy_synced(path, copy);
    if (status && ::rename(copy.c_str(), path.c_str()) != 0) {
      status = base::errno_failure(errno, "cannot replace " + path);
    }
    if (!status) {
      ::unlink(copy.c_str());
      return status;
    }
  }
  return base::sync_directory(directory);
}

base::Status make_reserve(const std::string& directory) {
  const std::string path = directory + "/" + kReserveFile;
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return base::errno_failure(errno, "cannot create " + path);
  }
  const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(kReserveBytes));
  return error == 0 ? base::Status() : base::errno_failure(error, "cannot reserve " + path);
}

void give_back_reserve(const std::string& directory) {
  ::unlink((directory + "/" + kReserveFile).c_str());
}

void empty_tree(const std::string& path) {
  for (const std::string& name : names_in(path)) {
    remove_tree(path + "/" + name);
  }
}

void remove_tree(const std::string& path) {
  std::error_code ignored; // what stays is found again by the next recovery
  std::filesystem::remove_all(path, ignored);
}

} // namespace jprof::spool
