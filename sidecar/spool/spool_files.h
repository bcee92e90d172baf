// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Small file operations of the spool. Directories of captures are flat.
namespace jprof::spool {

inline constexpr char kDraftFile[] = "draft.json";
inline constexpr char kReserveFile[] = "reserve";
inline constexpr std::uint64_t kReserveBytes = 256 * 1024;

// Names in a directory, sorted, without "." and ".."; empty for one that cannot be read.
std::vector<std::string> names_in(const std::string& directory);
// Bytes of the regular files in a capture's directory.
std::uint64_t bytes_in(const std::string& directory);
// What the disk under a directory can still take.
std::uint64_t free_bytes(const std::string& directory);
bool is_directory(const std::string& path);
// When a directory last changed its content or name; the epoch if it does not exist.
std::chrono::system_clock::time_point changed_at(const std::string& path);

// Rewrites the files of a directory and syncs them: after a failed fsync the kernel may have
// dropped what was dirty, so syncing the same file again proves nothing.
base::Status rewrite_files(const std::string& directory, const std::vector<std::string>& names);

// Blocks that are given back to the disk when a seal finds it full.
base::Status make_reserve(const std::string& directory);
void give_back_reserve(const std::string& directory);
void remove_tree(const std::string& path);
// All but the directory itself.
void empty_tree(const std::string& path);

} // namespace jprof::spool
