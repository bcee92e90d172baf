// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/process.h"

#include "lib/base/deadline.h"
#include "lib/base/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace jprof::container {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxProcesses = 1U << 22; // the kernel's largest pid_max
constexpr std::size_t kStatusBytes = 64 * 1024;
constexpr char kGoneCure[] =
    "start it again and capture that; kubectl describe pod, or dmesg on the "
    "node, says why it ended";

// Calls `visit` for each entry of the directory until it returns false; returns the error number.
// Does not use readdir(3): that asks for 32 KiB at once, and the kernel creates an inode for each
// of a thousand threads, although the caller looks at only the first ten.
template <typename Visit>
int for_each_entry(const base::UniqueFd& directory, Visit visit) {
  alignas(dirent) std::array<char, 1024> entries{}; // some 40 of them; a name has up to 255 bytes
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory.get(), entries.data(), entries.size());
    if (got <= 0) {
      return got == 0 ? 0 : errno;
    }
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent*>(entries.data() + at);
      if (!visit(entry->d_name)) {
        return 0;
      }
      at += entry->d_reclen;
    }
  }
}

base::UniqueFd open_at(int directory, const char* name, int flags) {
  int fd;
  do {
    fd = ::openat(directory, name, flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return base::UniqueFd(fd);
}

// Like Process::read(), but asks nothing of the process if it fails: what decides whether the
// process has ended must not depend on that.
base::Result<std::string> text_of(const base::UniqueFd& directory, const std::string& name) {
  const base::UniqueFd file = open_at(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW);
  return file ? base::read_all(file.get(), kStatusBytes, name)
              : base::errno_failure(errno, "cannot open " + name);
}

} // namespace

base::Result<ProcRoot> ProcRoot::open(const std::string& path) {
  base::UniqueFd directory = open_at(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (!directory) {
    return base::errno_failure(errno, "cannot open " + path);
  }
  return ProcRoot(std::move(directory));
}

base::Result<std::vector<pid_t>> ProcRoot::list_pids() const {
  const base::UniqueFd directory = open_at(directory_.get(), ".", O_RDONLY | O_DIRECTORY);
  if (!directory) {
    return base::errno_failure(errno, "cannot list processes");
  }
  std::vector<pid_t> pids;
  const int error = for_each_entry(directory, [&pids](const char* name) {
    pid_t pid = 0;
    const char* end = name + std::strlen(name);
    if (const auto [stop, code] = std::from_chars(name, end, pid);
        code == std::errc() && stop == end && pid > 0) {
      pids.push_back(pid);
    }
    return pids.size() < kMaxProcesses;
  });
  if (error != 0) {
    return base::errno_failure(error, "cannot list processes");
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

base::Result<Process> Process::open(const ProcRoot& proc, pid_t pid) {
  const std::string name = std::to_string(pid);
  base::UniqueFd directory = open_at(proc.fd(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!directory) {
    return base::make_failure(
        ErrorCode::kTargetNotFound, "no process " + name + " is visible here",
        "'jprof list' shows the JVMs that are; a JVM of another container is "
        "visible only with shareProcessNamespace or as an ephemeral container "
        "with a target");
  }
  Process process(pid, std::move(directory));
  JPROF_TRY_ASSIGN(const std::string text, process.read("stat", kStatusBytes));
  JPROF_TRY_ASSIGN(const ProcessStat stat, parse_stat(text));
  process.start_ticks_ = stat.start_ticks;
  return process;
}

base::Error Process::failure(int os_errno, const std::string& name) const {
  if (os_errno == ESRCH) {
    return gone();
  }
  if (os_errno == ENOENT) {
    const std::optional<ProcessStat> first = stat();
    if (!first || (first->ending() && ends_within(kEndTime))) {
      return gone();
    }
  }
  return base::errno_error(os_errno, "cannot read /proc/" + std::to_string(pid_) + "/" + name);
}

std::optional<ProcessStat> Process::stat(const std::string& name) const {
  const auto text = text_of(directory_, name);
  const auto stat = text ? parse_stat(*text) : base::fail(text.error());
  return stat ? std::optional(*stat) : std::nullopt;
}

bool Process::running() const {
  const std::optional<ProcessStat> first = stat();
  if (!first || !first->ending()) {
    return first.has_value();
  }
  return first->ended_by_signal() == 0 && first->threads > 1 && another_thread_runs();
}

// A process that the kernel is ending has SIGKILL pending until it notices, and is exiting from
// then on.
bool Process::another_thread_runs() const {
  bool found = false;
  const std::string first = std::to_string(pid_);
  (void)visit("task", [&](const std::string& thread) {
    if (thread == first) {
      return true;
    }
    const std::optional<ProcessStat> now = stat("task/" + thread + "/stat");
    if (!now || now->ending()) {
      return true;
    }
    const auto text = text_of(directory_, "task/" + thread + "/status");
    const auto status = text ? parse_status(*text) : base::fail(text.error());
    found = status && !status->awaits(SIGKILL);
    return !found;
  });
  return found;
}

bool Process::ends_within(std::chrono::milliseconds patience) const {
  constexpr std::chrono::milliseconds kStep{2};
  const auto deadline = base::Deadline::after(patience);
  while (running()) {
    if (deadline.expired()) {
      return false;
    }
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

std::string Process::ending() const {
  const std::optional<ProcessStat> first = stat();
  if (!first || first->state != 'Z' || first->exit_code == 0) {
    return {};
  }
  if (const int signal = first->ended_by_signal(); signal != 0) {
    return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "exit status " + std::to_string(first->exit_code >> 8 & 0xff);
}

base::Error Process::gone() const {
  const std::string why = ending();
  return base::make_error(ErrorCode::kTargetGone,
                          "process " + std::to_string(pid_) + " has ended" +
                              (why.empty() ? "" : ": " + why),
                          kGoneCure);
}

base::Result<base::UniqueFd> Process::open_file(const std::string& name) const {
  base::UniqueFd file = open_at(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!file) {
    return base::fail(failure(errno, name));
  }
  return file;
}

base::Result<std::string> Process::read(const std::string& name, std::size_t limit_bytes) const {
  JPROF_TRY_ASSIGN(const base::UniqueFd file, open_file(name));
  std::string text;
  while (text.size() < limit_bytes) {
    char piece[16 * 1024]; // not zeroed
    const ssize_t got =
        ::read(file.get(), piece, std::min(limit_bytes - text.size(), sizeof piece));
    if (got < 0 && errno != EINTR) {
      return base::fail(failure(errno, name));
    }
    if (got == 0) {
      break;
    }
    text.append(piece, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  return text;
}

base::Result<std::string> Process::read_link(const std::string& name) const {
  std::string target(4096, '\0');
  const ssize_t got = ::readlinkat(directory_.get(), name.c_str(), target.data(), target.size());
  if (got < 0) {
    return base::fail(failure(errno, name));
  }
  target.resize(static_cast<std::size_t>(got));
  return target;
}

base::Result<ProcessStatus> Process::status() const {
  JPROF_TRY_ASSIGN(const std::string text, read("status", kStatusBytes));
  return parse_status(text);
}

base::Result<base::UniqueFd> Process::open_link(const std::string& name) const {
  base::UniqueFd link = open_at(directory_.get(), name.c_str(), O_PATH);
  if (!link) {
    return base::fail(failure(errno, name));
  }
  return link;
}

base::Result<std::vector<std::string>> Process::list(const std::string& name,
                                                     std::size_t limit) const {
  std::vector<std::string> names;
  JPROF_TRY(visit(name, [&](const std::string& entry) {
    names.push_back(entry);
    return names.size() < limit;
  }));
  return names;
}

base::Status Process::visit(const std::string& name,
                            const std::function<bool(const std::string&)>& visit) const {
  const base::UniqueFd directory = open_at(directory_.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) {
    return base::fail(failure(errno, name));
  }
  const int error = for_each_entry(
      directory, [&visit](const char* entry) { return entry[0] == '.' || visit(entry); });
  return error == 0 ? base::Status() : base::fail(failure(error, name));
}

base::Result<uid_t> Process::owner() const {
  // The directory itself keeps the effective uid even of a non-dumpable process; its files do not.
  struct stat entry {};
  if (::fstatat(directory_.get(), "status", &entry, 0) != 0) {
    return base::fail(failure(errno, "status"));
  }
  return entry.st_uid;
}

base::Status Process::send_signal(int signal_number) const {
  // A descriptor of /proc/PID serves as a pidfd, and opening it needs no pidfd_open, which older
  // seccomp profiles do not know.
  const base::UniqueFd handle = open_at(directory_.get(), ".", O_RDONLY | O_DIRECTORY);
  if (!handle) {
    return base::fail(failure(errno, "."));
  }
  if (::syscall(SYS_pidfd_send_signal, handle.get(), signal_number, nullptr, 0) == 0) {
    return {};
  }
  // EPERM may be the seccomp profile's or the real answer: kill(2) shows which.
  if (errno == ENOSYS || errno == EPERM) {
    if (!running()) {
      return base::fail(failure(ESRCH, "."));
    }
    if (::kill(pid_, signal_number) == 0) {
      return {};
    }
  }
  const int error = errno;
  if (error == ESRCH) {
    return base::fail(failure(error, "."));
  }
  return base::fail(base::errno_error(error, "cannot signal process " + std::to_string(pid_))
                        .with_cure("run jprof with the uid of the JVM (runAsUser)"));
}

// clock_getcpuclockid(3). Its number is another process's only once nothing answers here any more.
std::optional<std::chrono::nanoseconds> cpu_time(const Process& process) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(process.pid(), &clock) != 0 || ::clock_gettime(clock, &used) != 0 ||
      !process.read("comm", 1)) { // "stat" would take a lock of its threads
    return std::nullopt;
  }
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::chrono::milliseconds process_age(const Process& process) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const long said = ::sysconf(_SC_CLK_TCK);
  const long long ticks = said > 0 ? said : 100;
  const long long started_ms = static_cast<long long>(process.start_ticks()) * 1000 / ticks;
  const long long now_ms = static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
  return std::chrono::milliseconds(std::max<long long>(0, now_ms - started_ms));
}

} // namespace jprof::container
