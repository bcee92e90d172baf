// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/local_dump.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace jprof::sidecar {
namespace {

using base::ErrorCode;

constexpr std::size_t kPiece = 1U << 20U;

base::Error cannot_write(const std::string& path, int os_errno) {
  base::Error error = base::errno_error(os_errno, "cannot write " + base::printable(path));
  error.code = ErrorCode::kIo;
  return std::move(error).with_cure("choose another path for the dump");
}

base::Status check_room(const std::string& path, std::uint64_t bytes) {
  struct statvfs system {};
  if (::statvfs(base::directory_of(path).c_str(), &system) != 0 || system.f_blocks == 0) {
    return {};
  }
  const std::uint64_t room = std::uint64_t{system.f_bavail} * system.f_frsize;
  if (room >= bytes) {
    return {};
  }
  return base::make_failure(ErrorCode::kIo,
                            "the heap dump has " + std::to_string(bytes) +
                                " bytes, but the file system of " + base::printable(path) +
                                " has " + std::to_string(room) + " free",
                            "choose another path for the dump");
}

base::Status copy(const jvm::HeapDump& dump, int out, const std::string& path,
                  const std::function<bool()>& stopped) {
  std::vector<std::byte> buffer(kPiece);
  for (std::uint64_t at = 0; at < dump.bytes;) {
    if (stopped && stopped()) {
      return base::make_failure(ErrorCode::kInterrupted, "interrupted");
    }
    const std::span<std::byte> piece(buffer.data(),
                                     std::min<std::uint64_t>(kPiece, dump.bytes - at));
    JPROF_TRY(base::pread_exact(dump.file.get(), piece, at, "the heap dump"));
    JPROF_TRY(base::write_all(
        out, std::string_view(reinterpret_cast<const char*>(piece.data()), piece.size()), path));
    at += piece.size();
  }
  return ::fsync(out) == 0 ? base::Status() : base::fail(cannot_write(path, errno));
}

} // namespace

base::Status check_dump_path(const std::string& path) {
  if (path.empty() || path.ends_with('/')) {
    return base::make_failure(
        ErrorCode::kUsage, "dumpheap needs the name of a file",
        "name one that is not there yet: jprof attach PID dumpheap app.hprof");
  }
  if (::access(path.c_str(), F_OK) == 0) {
    return base::make_failure(ErrorCode::kUsage, base::printable(path) + " already exists",
                              "choose another path for the dump");
  }
  if (::access(base::directory_of(path).c_str(), W_OK | X_OK) != 0) {
    return base::fail(cannot_write(path, errno));
  }
  return {};
}

base::Status keep_dump(const jvm::HeapDump& dump, const std::string& path,
                       const std::function<bool()>& stopped) {
  JPROF_TRY(check_room(path, dump.bytes));
  const std::string partial = path + ".partial";
  const base::UniqueFd out(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) {
    return base::fail(cannot_write(partial, errno));
  }
  if (base::Status done = copy(dump, out.get(), partial, stopped); !done) {
    return base::make_failure(
        ErrorCode::kPartialCapture, "the heap dump is incomplete: " + done.error().message,
        "what was copied is " + base::printable(partial) + "; the JVM's own file is removed");
  }
  // link(2) and not rename(2): a file that has appeared there in the meantime is not replaced.
  if (::link(partial.c_str(), path.c_str()) != 0) {
    return base::fail(cannot_write(path, errno));
  }
  ::unlink(partial.c_str());
  return base::sync_directory(base::directory_of(path));
}

} // namespace jprof::sidecar
