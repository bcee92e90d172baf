// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// The part of a connection that waits for other connections' captures, takes over what they left,
// and lets captures, or serve itself, go.
#include "lib/log/log.h"
#include "lib/protocol/reply.h"
#include "sidecar/serve/connection.h"
#include "sidecar/spool/file_lock.h"

#include <utility>

namespace jprof::serve {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using protocol::FrameType;

void Connection::wait_for(const std::string& id) {
  waited_id_ = id;
  state_ = State::kWaiting;
  // Longer than any capture may take; a caller that waits is not held for ever by the lock of a
  // stopped one.
  deadline_ = Deadline::after(context_.config.limits.longest_duration + 2min);
  next_tick_ = Deadline::after(0s);
}

void Connection::look_at_waited() {
  const spool::Entry entry = context_.spool.find(waited_id_);
  const bool running = spool::FileLock::is_held(context_.spool.capture_lock(waited_id_));
  const bool there = entry.place != spool::Place::kNone;
  if (there && entry.place != spool::Place::kIncoming) {
    send_entry(entry);
  } else if (!running && !there) {
    // Looked up again: it may have been sealed between the two checks.
    const spool::Entry again = context_.spool.find(waited_id_);
    if (again.place == spool::Place::kNone) {
      send_error(base::make_error(ErrorCode::kTargetGone,
                                  "capture " + waited_id_ + " ended without a sample"));
    }
  } else if (!running) {
    // Its process and the connection that watched it are gone, or it was sealed just now.
    const base::Status salvaged = salvage(waited_id_, "the capture's process ended");
    if (!salvaged && salvaged.error().code != ErrorCode::kBusy) {
      send_error(salvaged.error());
    }
  } else if (stream_.pending() == 0) {
    protocol::Progress progress;
    progress.id = waited_id_;
    progress.phase = "waiting";
    stream_.send(FrameType::kProgress, protocol::encode_progress(progress));
  }
}

// The last line in the log says what becomes of it.
base::Status Connection::salvage(const std::string& id, const std::string& reason) {
  auto salvaged = context_.spool.salvage(id, reason);
  if (salvaged) {
    log::warning("capture " + id + " is sealed" +
                 (salvaged->partial ? ", partial: " + salvaged->partial_reason : ""));
    context_.wake(Wake::kSealed);
    return {};
  }
  if (salvaged.error().code != ErrorCode::kBusy) {
    log::error(salvaged.error().text());
  }
  return base::fail(std::move(salvaged).error());
}

void Connection::on_release(const protocol::ReleaseRequest& request) {
  const spool::Entry entry = context_.spool.find(request.id);
  // With a store of its own, the sidecar still has to deliver it there.
  if (entry.place == spool::Place::kSealed && !context_.config.store) {
    if (auto delivered = context_.spool.deliver(request.id); !delivered) {
      send_error(std::move(delivered).error());
      return;
    }
  }
  Reply reply;
  reply.result.id = request.id;
  start_sending(std::move(reply));
}

// Once this caller has its answer and leaves, serve ends: only if it would end by itself anyway,
// since a sidecar that ends takes its pod out of its Service, and never with a capture that is
// wanted.
void Connection::on_quit() {
  const std::size_t kept = context_.spool.list(spool::Place::kSealed).size() +
                           context_.spool.list(spool::Place::kIncoming).size();
  if (!context_.ends_when_idle) {
    send_error(base::make_error(ErrorCode::kNotAllowed, "a sidecar ends with its pod",
                                "only jprof's ephemeral containers can be told to end"));
    return;
  }
  if (kept > 0) {
    send_error(base::make_error(ErrorCode::kBusy,
                                std::to_string(kept) + " captures are running or not fetched yet",
                                "kubectl jprof list POD shows them, kubectl jprof fetch POD ID "
                                "gets one"));
    return;
  }
  quit_ = true;
  start_sending(Reply{});
}

} // namespace jprof::serve
