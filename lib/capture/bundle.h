// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/capture/manifest.h"

#include <string>
#include <string_view>

// A capture as a directory: the manifest and the files that it names.
namespace jprof::capture {

inline constexpr std::uint64_t kMaxBundleFileBytes = std::uint64_t{16} * 1024 * 1024 * 1024;

// The format of the recording, of which all other files of a capture can be made.
inline constexpr std::string_view kRecordingFormat = "jprof";

// The name of a capture's file by its format, a file ending without the dot: the page is
// "flamegraph.html", all else "profile.<format>".
std::string bundle_file_name(std::string_view format);

// SHA-256 (hexadecimal) and length of a regular file that is not a symbolic link.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;
};
base::Result<FileDigest> digest_file(const std::string& path);

base::Result<Manifest> read_manifest(const std::string& directory);

// Reads every file whole and compares it with the manifest. kInvalidData names the first that is
// missing, shorter, longer or different.
base::Result<Manifest> verify_bundle(const std::string& directory);

// Commits the manifest into a directory whose files are on disk already: syncs each file it names,
// writes and syncs the manifest, syncs the directory. An error means that the bundle is not
// committed.
base::Status commit_bundle(const std::string& directory, const Manifest& manifest);

} // namespace jprof::capture
