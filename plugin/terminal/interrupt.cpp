// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/terminal/interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>

namespace jprof::plugin {
namespace {

std::atomic<Interrupt*> installed{nullptr};

void on_signal(int) {
  const int error = errno;
  if (Interrupt* interrupt = installed.load()) {
    interrupt->raise();
    if (interrupt->count() > 2) {
      ::_exit(base::exit_code(base::ErrorCode::kInterrupted));
    }
  }
  errno = error;
}

} // namespace

base::Result<std::unique_ptr<Interrupt>> Interrupt::create() {
  std::unique_ptr<Interrupt> out(new Interrupt());
  for (Pipe& pipe : out->pipes_) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
      return base::errno_failure(errno, "cannot create a pipe");
    }
    pipe.read.reset(ends[0]);
    pipe.write.reset(ends[1]);
    for (const int end : ends) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }
  return out;
}

int Interrupt::wake_fd(int seen) const {
  return seen < 0 || seen > 1 ? -1 : pipes_[static_cast<std::size_t>(seen)].read.get();
}

void Interrupt::raise() {
  const int before = count_.fetch_add(1);
  if (before < 2) {
    const ssize_t written = ::write(pipes_[static_cast<std::size_t>(before)].write.get(), "x", 1);
    static_cast<void>(written); // a full pipe is readable as well
  }
}

void Interrupt::install() {
  installed = this;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

} // namespace jprof::plugin
