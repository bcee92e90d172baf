// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/sandbox/landlock.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jprof::sandbox {
namespace {

// From uapi/linux/landlock.h; Debian's headers lack the later ones.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kWriteFile = 1U << 1;
constexpr std::uint64_t kReadFile = 1U << 2;
constexpr std::uint64_t kReadDirectory = 1U << 3;
constexpr std::uint64_t kRemoveDirectory = 1U << 4;
constexpr std::uint64_t kRemoveFile = 1U << 5;
constexpr std::uint64_t kMakeDirectory = 1U << 7;
constexpr std::uint64_t kMakeRegular = 1U << 8;
constexpr std::uint64_t kVersion1 = (1U << 13) - 1;
constexpr std::uint64_t kRefer = 1U << 13;    // version 2
constexpr std::uint64_t kTruncate = 1U << 14; // version 3

struct Ruleset {
  std::uint64_t handled;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};

void allow(int rules, int folder, std::uint64_t what) {
  const PathRule rule{what, folder};
  static_cast<void>(::syscall(kAddRule, rules, kPathBeneath, &rule, 0));
}

void allow(int rules, const std::string& path, std::uint64_t what) {
  const base::UniqueFd held(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!held || ::fstat(held.get(), &info) != 0) {
    return;
  }
  // The kernel refuses a folder's rights for anything else.
  constexpr std::uint64_t kOfFiles = kReadFile | kWriteFile | kTruncate;
  allow(rules, held.get(), S_ISDIR(info.st_mode) ? what : what & kOfFiles);
}

} // namespace

base::UniqueFd make_path_rules(const Paths& paths) {
  const long version = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  if (version < 2) {
    errno = version < 0 ? errno : EOPNOTSUPP;
    return {};
  }
  const std::uint64_t truncate = version >= 3 ? kTruncate : 0;
  const Ruleset ruleset{kVersion1 | kRefer | truncate};
  base::UniqueFd rules(static_cast<int>(::syscall(kCreateRuleset, &ruleset, sizeof(ruleset), 0U)));
  if (!rules) {
    return rules;
  }
  constexpr std::uint64_t kRead = kReadFile | kReadDirectory;
  for (const std::string& path : paths.writable) {
    allow(rules.get(), path,
          kRead | kWriteFile | kRemoveDirectory | kRemoveFile | kMakeDirectory | kMakeRegular |
              kRefer | truncate);
  }
  for (const std::string& path : paths.readable) {
    allow(rules.get(), path, kRead);
  }
  for (const int folder : paths.readable_fds) {
    allow(rules.get(), folder, kRead);
  }
  return rules;
}

int obey_path_rules(int rules) {
  return ::syscall(kRestrictSelf, rules, 0U) == 0 ? 0 : errno;
}

} // namespace jprof::sandbox
