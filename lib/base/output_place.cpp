// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/output_place.h"

#include "lib/base/deadline.h"
#include "lib/base/file.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace jprof::base {
namespace {

constexpr char kCure[] = "name another file with -o";
constexpr std::chrono::seconds kPatience{10}; // for the reader of a FIFO

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Ours, or root's, whose links lead where the system's files are.
bool is_trusted(const struct stat& link) {
  return link.st_uid == ::geteuid() || link.st_uid == 0;
}

Result<std::string> followed(const std::string& path, const struct stat& link) {
  if (!is_trusted(link)) {
    return make_failure(ErrorCode::kUsage,
                        path + " is a link that uid " + std::to_string(link.st_uid) + " has made",
                        kCure);
  }
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (!real) {
    return make_failure(ErrorCode::kUsage, path + " is a link that leads nowhere", kCure);
  }
  return std::string(real.get());
}

} // namespace

Result<OutputPlace> output_place(const std::string& path) {
  OutputPlace place{path};
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return place; // it is made; what stands in the way is told then
  }
  if (S_ISLNK(info.st_mode)) {
    JPROF_TRY_ASSIGN(place.path, followed(path, info));
    if (::lstat(place.path.c_str(), &info) != 0) {
      return place;
    }
  }
  place.stream = S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode);
  if (!place.stream && !S_ISREG(info.st_mode)) {
    return make_failure(ErrorCode::kUsage,
                        path + (S_ISDIR(info.st_mode) ? " is a folder" : " is not a file"), kCure);
  }
  return place;
}

Status check_folder(const std::string& path, const OutputPlace& place) {
  if (place.stream) {
    return {};
  }
  const std::string named = directory_of(path);
  struct stat info {};
  if (::stat(named.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return make_failure(ErrorCode::kUsage, "there is no folder " + named,
                        "make it, or name another file with -o");
  }
  const std::string real = directory_of(place.path);
  if (::faccessat(AT_FDCWD, real.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return fail(errno_error(errno, "cannot write into " + real)
                    .with_cure("use -o to name a file in a writable folder"));
  }
  return {};
}

namespace {

// Waits for a FIFO's reader, but not for ever: a process that waits in open(2) does not notice
// Ctrl-C.
Result<UniqueFd> open_stream(const std::string& path) {
  constexpr std::chrono::milliseconds kPause{20};
  const Deadline deadline = Deadline::after(kPatience);
  for (;;) {
    UniqueFd out(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (out) {
      ::fcntl(out.get(), F_SETFL, ::fcntl(out.get(), F_GETFL) & ~O_NONBLOCK);
      return out;
    }
    if (errno != ENXIO && errno != EINTR) {
      return errno_failure(errno, "cannot open " + path);
    }
    if (deadline.expired()) {
      return make_failure(ErrorCode::kIo, "nobody reads from " + path, "start its reader first");
    }
    std::this_thread::sleep_for(kPause);
  }
}

} // namespace

Status write_output(const std::string& path, std::string_view bytes, unsigned mode) {
  JPROF_TRY_ASSIGN(const OutputPlace place, output_place(path));
  if (!place.stream) {
    return write_file_atomically(place.path, bytes, mode);
  }
  JPROF_TRY_ASSIGN(const UniqueFd out, open_stream(place.path));
  return write_all(out.get(), bytes, path);
}

} // namespace jprof::base
