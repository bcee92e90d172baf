// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/bundle.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/file.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::capture {
namespace {

base::Result<base::UniqueFd> open_regular(const std::string& path) {
  // O_NONBLOCK: a FIFO in place of a file must not hold us.
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return base::errno_failure(errno, "cannot open " + path);
  }
  if (!S_ISREG(info.st_mode)) {
    return base::make_failure(base::ErrorCode::kInvalidData, path + " is not a regular file");
  }
  return fd;
}

base::Status sync_file(const std::string& path) {
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, open_regular(path));
  if (::fsync(fd.get()) != 0) {
    return base::errno_failure(errno, "cannot sync " + path);
  }
  return {};
}

} // namespace

std::string bundle_file_name(std::string_view format) {
  return (format == "html" ? "flamegraph." : "profile.") + std::string(format);
}

base::Result<FileDigest> digest_file(const std::string& path) {
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, open_regular(path));
  base::Sha256Stream stream;
  FileDigest out;
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return base::errno_failure(errno, "cannot read " + path);
    }
    if (got == 0) {
      break;
    }
    stream.update({buffer.data(), static_cast<std::size_t>(got)});
    out.bytes += static_cast<std::uint64_t>(got);
    if (out.bytes > kMaxBundleFileBytes) {
      return base::make_failure(base::ErrorCode::kLimit, path + " is too large for a capture");
    }
  }
  out.sha256 = base::hex(base::as_text(stream.finish()));
  return out;
}

base::Result<Manifest> read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifestFile;
  JPROF_TRY_ASSIGN(const base::UniqueFd fd, open_regular(path));
  JPROF_TRY_ASSIGN(const std::string text, base::read_all(fd.get(), kMaxManifestBytes, path));
  auto manifest = parse_manifest(text);
  if (!manifest) {
    return base::fail(std::move(manifest.error()).with_context(path));
  }
  return manifest;
}

base::Result<Manifest> verify_bundle(const std::string& directory) {
  JPROF_TRY_ASSIGN(Manifest manifest, read_manifest(directory));
  for (const BundleFile& file : manifest.files) {
    const std::string path = directory + "/" + file.name;
    auto got = digest_file(path);
    if (!got) {
      got.error().code = got.error().code == base::ErrorCode::kNotFound
                             ? base::ErrorCode::kInvalidData
                             : got.error().code;
      return base::fail(std::move(got).error());
    }
    if (got->bytes != file.bytes) {
      return base::make_failure(base::ErrorCode::kInvalidData,
                                path + " has " + std::to_string(got->bytes) +
                                    " bytes, its manifest says " + std::to_string(file.bytes));
    }
    if (got->sha256 != file.sha256) {
      return base::make_failure(base::ErrorCode::kInvalidData,
                                path + " is damaged: its SHA-256 is not the manifest's");
    }
  }
  return manifest;
}

base::Status commit_bundle(const std::string& directory, const Manifest& manifest) {
  for (const BundleFile& file : manifest.files) {
    JPROF_TRY(sync_file(directory + "/" + file.name));
  }
  return base::write_file_atomically(directory + "/" + kManifestFile, encode_manifest(manifest),
                                     0600);
}

} // namespace jprof::capture
