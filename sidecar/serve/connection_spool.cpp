// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// The part of a connection that lets captures, or serve itself, go.
#include "lib/control/reply.h"
#include "sidecar/serve/connection.h"

#include <utility>

namespace jprof::serve {

using base::ErrorCode;

void Connection::on_release(const control::ReleaseRequest& request) {
  const spool::Entry entry = context_.spool.find(request.id);
  // With a store of its own the sidecar still has to deliver there.
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

// Once this caller has its answer and leaves, serve ends: only where it would end by itself, since
// a sidecar that ends takes its pod out of its Service, and never with a capture that is wanted.
void Connection::on_quit() {
  const std::size_t kept = context_.spool.list(spool::Place::kSealed).size() +
                           context_.spool.list(spool::Place::kIncoming).size();
  if (!context_.ends_when_idle) {
    send_error(base::make_error(ErrorCode::kNotAllowed, "a sidecar ends with its pod",
                                "only ephemeral containers of jprof can be told to end"));
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
