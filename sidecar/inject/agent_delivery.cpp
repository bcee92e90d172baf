// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/inject/agent_delivery.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/random.h"
#include "sidecar/container/access.h"
#include "sidecar/container/target_root.h"
#include "sidecar/inject/place.h"
#include "sidecar/jvm/jvm_release.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace jprof::inject {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using container::TargetRoot;

constexpr std::size_t kMaxAgentBytes = 16U << 20U;
constexpr char kLibraryName[] = "libjprof.so";
constexpr char kCopyPrefix[] = ".jprof-";
constexpr char kCopySuffix[] = ".so";

base::Result<std::string> read_agent(const std::string& path) {
  auto bytes = base::read_file(path, kMaxAgentBytes);
  if (!bytes) {
    return base::fail(
        std::move(bytes).error().with_cure("--agent names libjprof.so; in the image it is "
                                           "/libjprof.so"));
  }
  if (!bytes->starts_with("\177ELF")) {
    return base::make_failure(ErrorCode::kInvalidData, path + " is not a shared library");
  }
  return bytes;
}

// Before the JVM is asked: its own refusal names neither cause nor cure.
base::Status check_machine(const TargetRoot& root, const jvm::Target& target) {
  std::array<char, 64> header{};
  const auto library = root.open_regular(target.vm.library);
  if (!library || ::pread(library->get(), header.data(), header.size(), 0) < 0) {
    return {};
  }
  return jvm::check_machine(jvm::machine_name({header.data(), header.size()}));
}

// Empty if the JVM sees exactly the bytes of `agent` at `path`, otherwise why not.
std::string volume_problem(const TargetRoot& root, const std::string& path,
                           const std::string& agent) {
  const auto seen = root.read(path, kMaxAgentBytes);
  if (!seen) {
    return "the JVM does not see " + path + ": mount the shared volume in its container";
  }
  if (*seen != agent) {
    return path + " as the JVM sees it is a different version from ours";
  }
  const auto place = root.resolve(path);
  return place ? exec_problem(place->get(), path) : place.error().message;
}

// Copies left by a session that was killed, or for a JVM on musl that has ended (load_delivered). A
// JVM that still has one mapped loses nothing. Young copies may be on their way into a JVM.
void sweep_copies(const jvm::Target& target, int directory) {
  constexpr time_t kYoung = 600; // seconds
  constexpr std::size_t kMaxEntries = 4096;
  const std::string& resident = target.vm.agent_library;
  const auto names = base::names_in(directory, kMaxEntries);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    struct stat file {};
    if (name.starts_with(kCopyPrefix) && name.ends_with(kCopySuffix) &&
        !resident.ends_with("/" + name) &&
        ::fstatat(directory, name.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(file.st_mode) && file.st_uid == target.status.effective_uid &&
        ::time(nullptr) - file.st_ctime > kYoung) {
      ::unlinkat(directory, name.c_str(), 0);
    }
  }
}

base::Result<DeliveredAgent> copy_into_target(const jvm::Target& target, const TargetRoot& root,
                                              const std::string& agent, Deadline deadline,
                                              std::vector<std::string>& skipped) {
  JPROF_TRY_ASSIGN(const std::string random, base::random_base32(24));
  const std::string name = kCopyPrefix + random + kCopySuffix;
  for (const char* directory : kPlaces) {
    auto place = container::open_as(target.identity(), deadline, [&]() -> base::Result<UniqueFd> {
      JPROF_TRY_ASSIGN(UniqueFd opened, root.open_directory(directory));
      if (!write_copy(opened.get(), directory, name, agent)) {
        sweep_copies(target, opened.get()); // may make room
        JPROF_TRY(write_copy(opened.get(), directory, name, agent));
      }
      return opened;
    });
    if (place) {
      DeliveredAgent delivered(target, AgentSource::kCopy, std::string(directory) + "/" + name);
      delivered.owns(std::move(*place), name);
      return delivered;
    }
    if (place.error().code != ErrorCode::kNotFound) {
      skipped.push_back("no copy in " + std::string(directory) + ": " + place.error().message);
    }
  }
  std::string reasons;
  for (const std::string& reason : skipped) {
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  return base::make_failure(
      ErrorCode::kNoPlaceForAgent,
      "no place in the file system of " + target.name() +
          " from which it could load the agent: " + reasons,
      "mount an emptyDir at /tmp of the JVM's container, or share a volume that holds libjprof.so");
}

} // namespace

DeliveredAgent::DeliveredAgent(DeliveredAgent&& other) noexcept
    : target_(other.target_), source_(other.source_), path_(std::move(other.path_)),
      directory_(std::move(other.directory_)), name_(std::exchange(other.name_, {})) {}

DeliveredAgent::~DeliveredAgent() {
  remove();
}

void DeliveredAgent::owns(UniqueFd directory, std::string name) {
  directory_ = std::move(directory);
  name_ = std::move(name);
}

void DeliveredAgent::remove() {
  if (!directory_) {
    return;
  }
  const std::string name = std::exchange(name_, {});
  (void)container::act_as(target_->identity(), Deadline::after(std::chrono::seconds(5)),
                          [&]() -> base::Status {
                            if (!name.empty()) {
                              ::unlinkat(directory_.get(), name.c_str(), 0);
                            }
                            sweep_copies(*target_, directory_.get());
                            return {};
                          });
  directory_.reset();
}

void DeliveredAgent::keep() {
  name_.clear();
}

base::Result<DeliveredAgent> deliver_agent(const jvm::Target& target, const AgentOptions& options,
                                           Deadline deadline, std::vector<std::string>& skipped) {
  JPROF_TRY_ASSIGN(const std::string agent, read_agent(options.agent_file));
  JPROF_TRY_ASSIGN(const TargetRoot root, container::open_root(target.process, deadline));
  JPROF_TRY(check_machine(root, target));
  if (options.volume) {
    const std::string& directory = options.volume->target_directory.empty()
                                       ? options.volume->directory
                                       : options.volume->target_directory;
    const std::string path = directory + "/" + kLibraryName;
    const auto looked = container::within(deadline, [&]() -> base::Result<container::Handed> {
      return container::Handed{{}, volume_problem(root, path, agent)};
    });
    const std::string problem = looked ? looked->text : looked.error().message;
    if (problem.empty()) {
      return DeliveredAgent(target, AgentSource::kSharedVolume, path);
    }
    skipped.push_back("shared volume: " + problem);
  } else {
    skipped.emplace_back("shared volume: none is configured");
  }
  return copy_into_target(target, root, agent, deadline, skipped);
}

base::Status fill_volume(const std::string& agent_file, const std::string& directory) {
  JPROF_TRY_ASSIGN(const std::string agent, read_agent(agent_file));
  const std::string path = directory + "/" + kLibraryName;
  const auto there = base::read_file(path, kMaxAgentBytes);
  if (there && *there == agent) {
    return {};
  }
  return base::write_file_atomically(path, agent, 0444);
}

} // namespace jprof::inject
