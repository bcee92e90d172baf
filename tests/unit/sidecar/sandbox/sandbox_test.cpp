// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/sandbox/sandbox.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <netinet/in.h>
#include <sched.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace jprof::sandbox {
namespace {

// Nothing leads out of a sandbox, so that each case has a process of its own: 0 if it held.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool is_refused(long result) {
  return result == -1 && errno == EPERM;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "a sanitizer's build has none";
    }
  }
};

TEST_F(Sandbox, RefusesWhatReadingDoesNotTakeAndKillsNobody) {
  EXPECT_EQ(in_child([] {
              if (!enter({.writable = {"/"}, .readable = {}, .readable_fds = {}}).system_calls) {
                return 1;
              }
              char* const arguments[] = {nullptr};
              const bool held = is_refused(::socket(AF_INET, SOCK_STREAM, 0)) &&
                                is_refused(::socket(AF_UNIX, SOCK_STREAM, 0)) &&
                                is_refused(::execve("/bin/true", arguments, arguments)) &&
                                is_refused(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) &&
                                is_refused(::unshare(CLONE_NEWUSER)) &&
                                is_refused(::setuid(::getuid())) && is_refused(::chroot("/"));
              return held ? 0 : 2;
            }),
            0);
}

TEST_F(Sandbox, LeavesWhatReadingTakes) {
  EXPECT_EQ(in_child([] {
              const testing::TempDir folder;
              const std::string path = folder.path() + "/a";
              enter({.writable = {folder.path()}, .readable = {}, .readable_fds = {}});
              const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
              const bool wrote = file >= 0 && ::write(file, "x", 1) == 1 && ::fsync(file) == 0;
              const bool moved = ::rename(path.c_str(), (path + "b").c_str()) == 0;
              std::atomic<bool> ran{false};
              std::thread([&ran] { ran = true; }).join();
              const bool child = in_child([] { return 7; }) == 7;
              return wrote && moved && ran && child ? 0 : 1;
            }),
            0);
}

TEST_F(Sandbox, ClosesTheFileSystemToEveryThread) {
  EXPECT_EQ(in_child([] {
              const testing::TempDir folder;
              std::atomic<bool> entered{false};
              std::atomic<int> seen{-1};
              std::thread other([&] {
                while (!entered) {
                  std::this_thread::yield();
                }
                seen = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
              });
              const Entered how =
                  enter({.writable = {folder.path()}, .readable = {}, .readable_fds = {}});
              const int here = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
              entered = true;
              other.join();
              if (!how.paths) { // this kernel has no Landlock: said, and all else goes on
                return how.missing.empty() ? 1 : 0;
              }
              return here == -1 && seen == -1 ? 0 : 2;
            }),
            0);
}

// Refused and not merely impossible: each of them is made as it would succeed, or fail otherwise.
TEST_F(Sandbox, FenceKeepsFromOtherProgramsProcessesAndNetworks) {
  EXPECT_EQ(in_child([] {
              if (!fence_in(Network::kNone).empty()) {
                return 1;
              }
              char* const arguments[] = {nullptr};
              char byte = 0;
              iovec part{&byte, 1};
              const bool held = is_refused(::execve("/bin/true", arguments, arguments)) &&
                                is_refused(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) &&
                                is_refused(::process_vm_readv(::getpid(), &part, 1, &part, 1, 0)) &&
                                is_refused(::unshare(CLONE_FILES)) &&
                                is_refused(::socket(AF_INET, SOCK_STREAM, 0)) &&
                                is_refused(::socket(AF_INET6, SOCK_DGRAM, 0)) &&
                                is_refused(::socket(AF_NETLINK, SOCK_RAW, 0)) &&
                                is_refused(::syscall(425, 1, nullptr)); // io_uring_setup
              return held ? 0 : 2;
            }),
            0);
}

TEST_F(Sandbox, FenceLeavesWhatAttachingTakes) {
  EXPECT_EQ(in_child([] {
              const testing::TempDir folder;
              if (!fence_in(Network::kListen).empty()) {
                return 1;
              }
              const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
              const int loopback = ::socket(AF_INET, SOCK_STREAM, 0);
              sockaddr_in any{};
              any.sin_family = AF_INET;
              any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
              const bool listens =
                  ::bind(loopback, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
                  ::listen(loopback, 1) == 0;
              const bool same_ids = ::setresuid(::getuid(), ::geteuid(), ::getuid()) == 0;
              std::atomic<bool> ran{false};
              std::thread([&ran] { ran = true; }).join();
              return local >= 0 && listens && same_ids && ran ? 0 : 2;
            }),
            0);
}

TEST_F(Sandbox, IsEnteredFromBehindTheFence) {
  EXPECT_EQ(in_child([] {
              const bool fenced = fence_in(Network::kNone).empty();
              const bool before = ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
              const bool entered =
                  enter({.writable = {}, .readable = {}, .readable_fds = {}}).system_calls;
              return fenced && before && entered && is_refused(::socket(AF_UNIX, SOCK_STREAM, 0))
                         ? 0
                         : 1;
            }),
            0);
}

} // namespace
} // namespace jprof::sandbox
