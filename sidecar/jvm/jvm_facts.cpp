// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/jvm_facts.h"

#include "lib/base/deadline.h"
#include "sidecar/container/access.h"
#include "sidecar/jvm/jvm_flags.h"

#include <string>
#include <sys/stat.h>

namespace jprof::jvm {
namespace {

constexpr std::size_t kTextBytes = 1U << 20U;
constexpr std::size_t kReleaseFileBytes = 64U << 10U;
constexpr std::chrono::seconds kStepTime{5};

std::string parent(const std::string& path, int levels) {
  std::string up = path;
  for (; levels > 0; --levels) {
    const auto slash = up.rfind('/');
    up.resize(slash == std::string::npos ? 0 : slash);
  }
  return up;
}

// The file of the mapping, not one that has been put in its place since.
base::Result<base::UniqueFd> open_library(const container::TargetRoot& root, const Target& target) {
  JPROF_TRY_ASSIGN(base::UniqueFd file, root.open_regular(target.vm.library));
  struct stat entry {};
  if (::fstat(file.get(), &entry) != 0 || entry.st_ino != target.vm.library_inode) {
    return base::make_failure(base::ErrorCode::kNotFound, "the JVM's library was replaced");
  }
  return file;
}

JvmRelease read_release(const Target& target) {
  const auto root = container::open_root(target.process, base::Deadline::after(kStepTime));
  if (!root || target.vm.library.empty()) {
    return {};
  }
  JvmRelease release;
  if (const auto library = open_library(*root, target)) {
    release = read_library(library->get()).value_or(JvmRelease{});
  }
  // HOME/lib/server/libjvm.so; up to 8 HOME/jre/lib/amd64/server/libjvm.so
  for (const int levels : {3, 5, 4}) {
    if (!release.version.empty() && !release.vendor.empty()) {
      break;
    }
    const auto text = root->read(parent(target.vm.library, levels) + "/release", kReleaseFileBytes);
    const JvmRelease said = text ? parse_release_file(*text) : JvmRelease{};
    if (release.version.empty()) {
      release.version = said.version;
      release.feature = said.feature;
    }
    if (release.vendor.empty()) {
      release.vendor = said.vendor;
    }
  }
  return release;
}

} // namespace

JvmFacts read_facts(const Target& target) {
  JvmFacts facts;
  facts.release = read_release(target);
  if (const auto cmdline = target.process.read("cmdline", kTextBytes)) {
    facts.command = parse_java_command(*cmdline, option_files(target));
  }
  facts.flags = read_flags(target);
  facts.ids = container::container_ids_of(target.process);
  facts.uptime =
      std::chrono::duration_cast<std::chrono::seconds>(container::process_age(target.process));
  return facts;
}

} // namespace jprof::jvm
