// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/listener.h"

#include "lib/log/log.h"
#include "sidecar/serve/socket.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>

namespace jprof::serve {
namespace {

using namespace std::chrono_literals;
using base::Deadline;

constexpr auto kRest = 1s;
constexpr auto kQuiet = 1min;

// Of accept4(2): the caller stays in the queue, so that poll(2) reports it again at once.
bool stays_in_queue(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

base::UniqueFd accept_from(int listener) {
  return base::UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
}

base::UniqueFd any_descriptor() {
  return base::UniqueFd(::open("/", O_PATH | O_CLOEXEC));
}

} // namespace

Listener::Listener(base::UniqueFd fd, spool::FileLock lock)
    : fd_(std::move(fd)), lock_(std::move(lock)), kept_back_(any_descriptor()) {}

base::Result<Listener> Listener::create(const std::string& path) {
  auto lock = spool::FileLock::try_take(path + ".lock", {});
  if (!lock) {
    return base::fail(std::move(lock).error().with_cure(
        "mount a writable emptyDir at /var/lib/jprof, or set 'socket' in the configuration"));
  }
  if (!*lock) {
    return base::make_failure(base::ErrorCode::kBusy, "another 'jprof serve' listens at " + path,
                              "give each its own 'socket' in the configuration");
  }
  JPROF_TRY_ASSIGN(base::UniqueFd fd, listen_at(path));
  return Listener(std::move(fd), std::move(**lock));
}

int Listener::fd() const {
  return resting_ && !resting_->expired() ? -1 : fd_.get();
}

std::optional<Deadline> Listener::resting_until() const {
  return fd() < 0 ? resting_ : std::nullopt;
}

std::optional<Listener::Caller> Listener::accept() {
  resting_.reset();
  if (!kept_back_) {
    kept_back_ = any_descriptor();
  }
  base::UniqueFd caller = accept_from(fd_.get());
  if (caller) {
    return Caller{std::move(caller), false};
  }
  if (!stays_in_queue(errno)) {
    return std::nullopt;
  }
  const int error = errno;
  if (!quiet_until_ || quiet_until_->expired()) {
    quiet_until_ = Deadline::after(kQuiet);
    log::error("cannot accept a caller: " + base::errno_error(error, "accept").message +
               ": raise the limit on open files, or restart the container");
  }
  return accept_the_last();
}

std::optional<Listener::Caller> Listener::accept_the_last() {
  kept_back_.reset();
  base::UniqueFd caller = accept_from(fd_.get());
  if (!caller) {
    if (stays_in_queue(errno)) {
      resting_ = Deadline::after(kRest);
    }
    return std::nullopt;
  }
  return Caller{std::move(caller), true};
}

void Listener::leave_to_parent() {
  if (lock_) {
    lock_->leave_to_parent();
  }
  close();
}

void Listener::close() {
  fd_.reset();
  lock_.reset();
  kept_back_.reset();
}

} // namespace jprof::serve
