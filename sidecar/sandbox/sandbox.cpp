// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/sandbox/sandbox.h"

#include "lib/base/deadline.h"
#include "lib/base/directory.h"
#include "sidecar/sandbox/landlock.h"
#include "sidecar/sandbox/system_calls.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace jprof::sandbox {
namespace {

// For the handler below.
std::atomic<int> rules_to_obey{-1};
std::atomic<int> obeyed{0};
std::atomic<int> refused{0};

void obey_here(int /*signal*/) {
  const int before = errno;
  const bool done =
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && obey_path_rules(rules_to_obey.load()) == 0;
  ++(done ? obeyed : refused);
  errno = before;
}

std::vector<pid_t> other_threads() {
  std::vector<pid_t> threads;
  const auto names = base::names_in("/proc/self/task");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const auto thread = static_cast<pid_t>(std::atoi(name.c_str()));
    if (thread > 0 && thread != ::gettid()) {
      threads.push_back(thread);
    }
  }
  return threads;
}

// Landlock binds only the calling thread, and threads share their memory: one that is not bound
// could be made to act for the others. So each thread is asked by a signal, as libc does for
// setuid(2).
bool all_threads_obey(int rules) {
  constexpr std::chrono::seconds kPatience{2};
  struct sigaction ours {};
  struct sigaction before {};
  ours.sa_handler = obey_here;
  ours.sa_flags = SA_RESTART;
  rules_to_obey = rules;
  obeyed = refused = 0;
  if (::sigaction(SIGUSR2, &ours, &before) != 0) {
    return false;
  }
  int asked = 0;
  for (const pid_t thread : other_threads()) {
    asked += ::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR2) == 0 ? 1 : 0;
  }
  const auto deadline = base::Deadline::after(kPatience);
  while (obeyed + refused < asked && !deadline.expired()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const bool all = obeyed == asked;
  if (obeyed + refused == asked) { // otherwise a late one would find no handler and end us
    ::sigaction(SIGUSR2, &before, nullptr);
  }
  return obey_path_rules(rules) == 0 && all;
}

} // namespace

Entered enter(const Paths& paths) {
  Entered entered;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(paths);
  static_cast<void>(&all_threads_obey);
  entered.missing.emplace_back("a sanitizer's build, which traces itself at its end");
  return entered;
#endif
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    entered.missing.push_back(std::string("no sandbox: no_new_privs: ") + std::strerror(errno));
    return entered;
  }
  if (const base::UniqueFd rules = make_path_rules(paths); !rules) {
    entered.missing.push_back(std::string("the file system is not closed to it, because the kernel "
                                          "has no Landlock (5.19 or later): ") +
                              std::strerror(errno));
  } else if (entered.paths = all_threads_obey(rules.get()); !entered.paths) {
    entered.missing.emplace_back("the file system is not closed to each thread of it (Landlock)");
  }
  if (const int error = allow_few_system_calls(); error != 0) {
    entered.missing.push_back(std::string("no system call is forbidden to it (seccomp): ") +
                              std::strerror(error));
  } else {
    entered.system_calls = true;
  }
  return entered;
}

std::string fence_in(Network network) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(network);
  return "a sanitizer's build, which traces itself at its end";
#endif
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return std::string("no_new_privs: ") + std::strerror(errno);
  }
  const int error = refuse_some_system_calls(network);
  return error == 0 ? std::string() : std::string("seccomp: ") + std::strerror(error);
}

} // namespace jprof::sandbox
