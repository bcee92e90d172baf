// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/stop_on_signal.h"

#include <array>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace jprof::sidecar {

StopOnSignal::StopOnSignal(std::string what, std::string costs)
    : what_(std::move(what)), costs_(std::move(costs)) {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  signal_fd_.reset(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
  wake_fd_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!signal_fd_ || !wake_fd_) { // nobody would notice a signal, nor could the watcher be woken
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    return;
  }
  watcher_ = std::jthread([this](std::stop_token ended) { watch(std::move(ended)); });
}

StopOnSignal::~StopOnSignal() {
  if (!watcher_.joinable()) {
    return;
  }
  watcher_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = ::write(wake_fd_.get(), &one, sizeof(one));
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// On a terminal it takes the place of the progress line, which is shown anew behind it. Nobody who
// reads stderr is waited for: the third signal must be heard.
void StopOnSignal::tell() const {
  const std::string clear = ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
  const std::string line = clear + "jprof: " + what_ + "; once more ends jprof at once" +
                           (costs_.empty() ? "" : " and ") + costs_ + '\n';
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t wrote = ::write(STDERR_FILENO, line.data(), line.size());
  }
}

void StopOnSignal::watch(std::stop_token ended) {
  int heard = 0;
  while (!ended.stop_requested()) {
    std::array<pollfd, 2> waits{{{signal_fd_.get(), POLLIN, 0}, {wake_fd_.get(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), -1);
    signalfd_siginfo info{};
    if (::read(signal_fd_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) {
      continue;
    }
    ++heard;
    if (heard == 2) {
      tell();
    } else if (heard > 2) {
      const int signal = static_cast<int>(info.ssi_signo);
      std::signal(signal, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      std::raise(signal);
    }
    source_.request_stop();
  }
}

} // namespace jprof::sidecar
