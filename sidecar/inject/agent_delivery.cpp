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
#include <cstring>
#include <ctime>
#include <elf.h>
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
constexpr std::chrono::seconds kRemovalTime{5};

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

// What is in a file that only keeps a name: no library, and for whose request it is. HotSpot looks
// at a library's header before it loads it (ElfFile::specifies_noexecstack, 8 to 25): one that does
// not ask for a stack without code costs it a safepoint and a warning.
std::string placeholder_of(const jvm::Target& target) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_NONE; // neither glibc nor musl loads that
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr stack{};
  stack.p_type = PT_GNU_STACK;
  stack.p_flags = PF_R | PF_W;
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(&stack), sizeof stack);
  return file + "jprof: process " + std::to_string(target.innermost_pid()) + " of " +
         std::to_string(target.process.start_ticks()) + "\n";
}
constexpr off_t kMaxPlaceholder = 256;

bool is_placeholder_of(const jvm::Target& target, int directory, const std::string& name) {
  const UniqueFd file(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat entry {};
  std::array<char, kMaxPlaceholder> text{};
  if (!file || ::fstat(file.get(), &entry) != 0 || !S_ISREG(entry.st_mode) ||
      entry.st_size > kMaxPlaceholder) {
    return false;
  }
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  return got > 0 &&
         std::string_view(text.data(), static_cast<std::size_t>(got)) == placeholder_of(target);
}

base::Status write_placeholder(const jvm::Target& target, int directory, const std::string& name) {
  const UniqueFd file(::openat(directory, name.c_str(),
                               O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0400));
  if (!file) {
    return base::errno_failure(errno, "cannot create " + name);
  }
  base::Status done = base::write_all(file.get(), placeholder_of(target), name);
  if (!done) {
    ::unlinkat(directory, name.c_str(), 0);
  }
  return done;
}

// In place of a copy: what has mapped that keeps it.
base::Status replace_by_placeholder(const jvm::Target& target, int directory,
                                    const std::string& name) {
  return base::write_file_atomically(container::descriptor_path(directory) + '/' + name,
                                     placeholder_of(target), 0400);
}

// What hold_name found or did.
constexpr char kMade[] = "made";       // a placeholder
constexpr char kFound[] = "found";     // a placeholder of an earlier request
constexpr char kCopy[] = "copy";       // the JVM's own, on musl, or the directory takes none
constexpr char kForeign[] = "foreign"; // another user's

const char* hold_name(const jvm::Target& target, int directory, const std::string& name) {
  if (write_placeholder(target, directory, name)) {
    return kMade;
  }
  struct stat entry {};
  if (::fstatat(directory, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
    return kCopy;
  }
  if (!S_ISREG(entry.st_mode) || entry.st_uid != target.status.effective_uid) {
    return kForeign;
  }
  return is_placeholder_of(target, directory, name) ? kFound : kCopy;
}

// Copies left by a session that was killed, or for a JVM on musl that has ended (load_delivered),
// and placeholders of this JVM if it has no older request (`answered`). A JVM that still has a copy
// mapped loses nothing. Young copies may be on their way into a JVM.
void sweep_copies(const jvm::Target& target, int directory, bool answered) {
  constexpr time_t kYoung = 600; // seconds
  constexpr std::size_t kMaxEntries = 4096;
  const std::string& resident = target.vm.agent_library;
  const auto names = base::names_in(directory, kMaxEntries);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    struct stat file {};
    if (!name.starts_with(kCopyPrefix) || !name.ends_with(kCopySuffix) ||
        ::fstatat(directory, name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(file.st_mode) || file.st_uid != target.status.effective_uid) {
      continue;
    }
    const bool useless =
        file.st_size <= kMaxPlaceholder
            ? answered && is_placeholder_of(target, directory, name)
            : !resident.ends_with("/" + name) && ::time(nullptr) - file.st_ctime > kYoung;
    if (useless) {
      ::unlinkat(directory, name.c_str(), 0);
    }
  }
}

base::Result<DeliveredAgent> copy_into_target(const jvm::Target& target, const TargetRoot& root,
                                              const std::string& agent, Deadline deadline,
                                              std::vector<std::string>& skipped) {
  JPROF_TRY(check_size_limit(agent.size()));
  JPROF_TRY_ASSIGN(const std::string random, base::random_base32(24));
  const std::string name = kCopyPrefix + random + kCopySuffix;
  for (const char* directory : kPlaces) {
    auto place = container::open_as(target.identity(), deadline, [&]() -> base::Result<UniqueFd> {
      JPROF_TRY_ASSIGN(UniqueFd opened, root.open_directory(directory));
      if (!write_copy(opened.get(), directory, name, agent)) {
        sweep_copies(target, opened.get(), false); // may make room
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
      directory_(std::move(other.directory_)), name_(std::exchange(other.name_, {})),
      adopted_(other.adopted_), pending_(other.pending_), answered_(other.answered_) {}

DeliveredAgent::~DeliveredAgent() {
  remove();
}

void DeliveredAgent::owns(UniqueFd directory, std::string name) {
  directory_ = std::move(directory);
  name_ = std::move(name);
}

void DeliveredAgent::adopts(UniqueFd directory, std::string name) {
  owns(std::move(directory), std::move(name));
  adopted_ = true;
}

void DeliveredAgent::remove() {
  if (!directory_) {
    return;
  }
  const std::string name = std::exchange(name_, {});
  (void)container::act_as(target_->identity(), Deadline::after(kRemovalTime),
                          [&]() -> base::Status {
                            if (!name.empty() && (!adopted_ || answered_)) {
                              ::unlinkat(directory_.get(), name.c_str(), 0);
                            }
                            sweep_copies(*target_, directory_.get(), answered_);
                            return {};
                          });
  directory_.reset();
}

void DeliveredAgent::request_is_pending(bool pending) {
  pending_ = pending;
  answered_ = !pending;
}

base::Error DeliveredAgent::keep_name(base::Error error) {
  if (!pending_ || name_.empty() || !target_->process.running()) {
    return error;
  }
  const std::string name = std::exchange(name_, {});
  if (source_ ==
      AgentSource::kCopy) { // otherwise it is a placeholder already; if this fails, the copy stays
    (void)container::act_as(target_->identity(), Deadline::after(kRemovalTime), [&] {
      return replace_by_placeholder(*target_, directory_.get(), name);
    });
  }
  error.message += "; it has the request and may still act on it, so " + path_ +
                   " stays, as a file that cannot be loaded, until it answers a later capture";
  return error;
}

void DeliveredAgent::keep() {
  name_.clear();
}

base::Result<DeliveredAgent> hold_resident_name(const jvm::Target& target, Deadline deadline) {
  const std::string& path = target.vm.agent_library;
  DeliveredAgent resident(target, AgentSource::kResident, path);
  const auto slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  if (!name.starts_with(kCopyPrefix)) { // not a copy, but a file of an image or volume
    return resident;
  }
  JPROF_TRY_ASSIGN(const TargetRoot root, container::open_root(target.process, deadline));
  JPROF_TRY_ASSIGN(
      container::Handed held,
      container::as_identity(target.identity(), deadline, [&]() -> base::Result<container::Handed> {
        JPROF_TRY_ASSIGN(UniqueFd directory, root.open_directory(path.substr(0, slash)));
        const char* held_as = hold_name(target, directory.get(), name);
        return container::Handed{std::move(directory), held_as};
      }));
  if (held.text == kForeign) {
    return base::make_failure(ErrorCode::kPermission, path + " is now another user's file");
  }
  if (held.text == kMade) {
    resident.owns(std::move(held.fd), name);
  } else if (held.text == kFound) {
    resident.adopts(std::move(held.fd), name);
  }
  return resident;
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
