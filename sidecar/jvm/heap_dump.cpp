// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/heap_dump.h"

#include "lib/base/directory.h"
#include "lib/base/mebibytes.h"
#include "lib/base/random.h"
#include "sidecar/container/access.h"
#include "sidecar/container/memory_group.h"
#include "sidecar/container/target_root.h"
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/diagnostic.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <utility>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using container::Handed;
using container::TargetRoot;

constexpr std::array<const char*, 2> kPlaces = {"/tmp", "/var/tmp"};
constexpr std::uint64_t kRoomFactor = 2; // of the JVM's resident memory
constexpr std::chrono::seconds kStepTime{10};

std::uint64_t resident_bytes(const Target& target) {
  const auto text = target.process.read("statm", 256);
  const auto blank = text ? text->find(' ') : std::string::npos;
  std::uint64_t pages = 0;
  if (blank != std::string::npos) {
    std::from_chars(text->data() + blank + 1, text->data() + text->size(), pages);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// What a dump needs, and what the groups that limit the JVM's memory have left for a file in
// memory.
struct Need {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> memory_left;
};

// Empty if the dump may be written there, otherwise why not.
std::string room_problem(int directory, const Need& need) {
  struct statfs system {};
  if (::fstatfs(directory, &system) != 0) {
    return std::strerror(errno);
  }
  const std::uint64_t room =
      static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  if (system.f_blocks != 0 && room < need.bytes) { // a tmpfs without a size says 0
    return "it has " + base::mebibytes(room) + " free";
  }
  if (system.f_type == TMPFS_MAGIC && need.memory_left && *need.memory_left < need.bytes) {
    return "it is in memory, of which the container has " + base::mebibytes(*need.memory_left) +
           " left";
  }
  const std::string held = container::descriptor_path(directory);
  if (::faccessat(AT_FDCWD, held.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return std::string("it cannot be written (") + std::strerror(errno) + ")";
  }
  return {};
}

struct Place {
  UniqueFd directory;
  std::string path;
};

base::Result<Place> choose_place(const Target& target, const TargetRoot& root) {
  const Need need{resident_bytes(target) * kRoomFactor,
                  container::least_left(container::memory_groups_of(target.process, root))};
  std::string problems;
  for (const char* path : kPlaces) {
    auto handed = container::as_identity(
        target.identity(), Deadline::after(kStepTime), [&]() -> base::Result<Handed> {
          JPROF_TRY_ASSIGN(UniqueFd directory, root.open_directory(path));
          std::string problem = room_problem(directory.get(), need);
          return Handed{std::move(directory), std::move(problem)};
        });
    if (handed && handed->text.empty()) {
      return Place{std::move(handed->fd), path};
    }
    problems += (problems.empty() ? "" : "; ") + std::string(path) + ": " +
                (handed ? handed->text : handed.error().message);
  }
  return base::make_failure(ErrorCode::kLimit,
                            "no place in the JVM's container for a heap dump, which may need " +
                                base::mebibytes(need.bytes) + ": " + problems,
                            "mount a larger emptyDir at /tmp of the JVM's container");
}

void empty_directory(int directory) {
  const auto names = base::names_in(directory);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    ::unlinkat(directory, name.c_str(), 0);
  }
}

// The dump's own directory in the target, which is removed in every case. A JVM that gets to our
// request only after we have given up finds no directory, and writes nothing.
class DumpPlace {
 public:
  static base::Result<DumpPlace> create(const Target& target, Place place) {
    JPROF_TRY_ASSIGN(const std::string random, base::random_base32(24));
    DumpPlace out(target, std::move(place), ".jprof-heap-" + random);
    JPROF_TRY_ASSIGN(Handed handed, out.as_target([&out]() -> base::Result<Handed> {
      const int parent = out.place_.directory.get();
      if (::mkdirat(parent, out.name_.c_str(), 0700) != 0) {
        return base::errno_failure(errno, "cannot create " + out.place_.path + "/" + out.name_);
      }
      UniqueFd made(
          ::openat(parent, out.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!made) {
        return base::errno_failure(errno, "cannot open " + out.place_.path + "/" + out.name_);
      }
      return Handed{std::move(made), {}};
    }));
    out.directory_ = std::move(handed.fd);
    return out;
  }
  DumpPlace(DumpPlace&&) = default;
  DumpPlace& operator=(DumpPlace&&) = delete;
  ~DumpPlace() {
    if (directory_) {
      static_cast<void>(as_target([this] { return remove(); }));
    }
  }

  std::string path() const { return place_.path + "/" + name_ + "/" + kFileName; }

  base::Result<HeapDump> take() const {
    JPROF_TRY_ASSIGN(Handed handed, as_target([this]() -> base::Result<Handed> {
                       JPROF_TRY_ASSIGN(UniqueFd file, open());
                       return Handed{std::move(file), {}};
                     }));
    struct stat entry {};
    if (::fstat(handed.fd.get(), &entry) != 0) {
      return base::errno_failure(errno, "cannot examine the heap dump");
    }
    return HeapDump{std::move(handed.fd), static_cast<std::uint64_t>(entry.st_size)};
  }

 private:
  static constexpr char kFileName[] = "heap.hprof";

  DumpPlace(const Target& target, Place place, std::string name)
      : target_(&target), place_(std::move(place)), name_(std::move(name)) {}

  template <typename Work>
  base::Result<Handed> as_target(const Work& work) const {
    return container::as_identity(target_->identity(), Deadline::after(kStepTime), work);
  }

  // What the JVM wrote, and nothing that somebody put in its place.
  base::Result<UniqueFd> open() const {
    const UniqueFd file(::openat(directory_.get(), kFileName, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!file) {
      return base::errno_failure(errno, "the heap dump is not at " + path());
    }
    struct stat entry {};
    if (::fstat(file.get(), &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_nlink != 1 ||
        entry.st_uid != target_->status.effective_uid) {
      return base::make_failure(ErrorCode::kInvalidData,
                                "what is at " + path() + " is not the JVM's heap dump");
    }
    return container::reopen(file.get(), O_RDONLY);
  }

  // Again while the JVM still creates files (JDK 22 and later write several, then join them).
  base::Result<Handed> remove() const {
    constexpr int kTries = 20;
    for (int i = 0; i < kTries; ++i) {
      empty_directory(directory_.get());
      if (::unlinkat(place_.directory.get(), name_.c_str(), AT_REMOVEDIR) == 0) {
        return Handed{};
      }
    }
    return base::errno_failure(errno, "cannot remove " + place_.path + "/" + name_);
  }

  const Target* target_; // outlives us: both live in take_heap_dump
  Place place_;
  std::string name_;
  UniqueFd directory_;
};

} // namespace

base::Result<HeapDump> take_heap_dump(const Target& target, const HeapDumpOptions& options,
                                      Deadline deadline) {
  if (target.vm.vm == container::Vm::kOpenJ9) {
    return base::make_failure(ErrorCode::kJvmUnsupported,
                              target.name() +
                                  " is an OpenJ9 JVM, whose heap dumps have other formats",
                              "jprof attach --in-target leaves its dump in its container");
  }
  std::vector<std::string> arguments = {"/"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  JPROF_TRY_ASSIGN(Diagnostic diagnostic, make_diagnostic("dumpheap", arguments));
  JPROF_TRY_ASSIGN(const TargetRoot root, container::open_root(target.process, deadline));
  JPROF_TRY_ASSIGN(Place place, choose_place(target, root));
  JPROF_TRY_ASSIGN(const DumpPlace dump_place, DumpPlace::create(target, std::move(place)));
  diagnostic.command.arguments[0] = dump_place.path();
  AttachLimits limits;
  limits.stopped = options.stopped;
  JPROF_TRY_ASSIGN(const AttachReply reply,
                   run_command(target, diagnostic.command, deadline, limits));
  JPROF_TRY(judge(diagnostic, reply));
  JPROF_TRY_ASSIGN(HeapDump dump, dump_place.take());
  if (dump.bytes > options.max_bytes) {
    return base::make_failure(ErrorCode::kLimit,
                              "the heap dump has " + base::mebibytes(dump.bytes) +
                                  ", but the limit is " + base::mebibytes(options.max_bytes) +
                                  "; it was removed",
                              "raise limits.dumpBytes of the sidecar, or use inspectheap");
  }
  return dump;
}

} // namespace jprof::jvm
