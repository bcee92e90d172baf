// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/unique_fd.h"
#include "tests/support/region_builder.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace jprof::testing {

// The agent's side of a control socket, driven by a script on a thread of its own: takes the start
// message and the region, then does what the script says. Everything that the sidecar sends is
// real.
class ScriptedAgent {
 public:
  class Session {
   public:
    Session(int socket, const wire::StartMessage& start, base::UniqueFd region_fd,
            const RegionShape& shape);

    const wire::StartMessage& start() const { return start_; }
    RegionBuilder& region() { return *region_; }
    void send_started();
    void send_failed(wire::AgentStatus status, const char* detail);
    // Marks the region final and says so.
    void send_stopped(wire::StopReason reason, std::uint32_t in_flight = 0,
                      wire::HandlerLeft handler_left = {});
    void send_raw(const void* bytes, std::size_t size);
    // Waits for a message and applies acknowledgements; false when the time is over or the sidecar
    // hung up. `stop_seen` tells that it asked for the end.
    bool hear(std::chrono::milliseconds timeout);
    bool stop_seen() const { return stop_seen_; }
    bool hung_up() const { return hung_up_; } // as hear() found
    bool peer_is_gone() const;                // without reading
    std::uint64_t drained_messages() const { return drained_messages_; }

   private:
    int socket_;
    wire::StartMessage start_;
    base::UniqueFd region_fd_;
    std::unique_ptr<RegionBuilder> region_;
    bool stop_seen_ = false;
    bool hung_up_ = false;
    std::uint64_t drained_messages_ = 0;
  };
  using Script = std::function<void(Session&)>;

  explicit ScriptedAgent(Script script, const RegionShape& shape = {});
  // The same on a socket that somebody else connected, without a thread. False if no start came.
  static bool play(int socket, const Script& script, const RegionShape& shape);
  ~ScriptedAgent();
  ScriptedAgent(const ScriptedAgent&) = delete;
  ScriptedAgent& operator=(const ScriptedAgent&) = delete;

  // What the sidecar was given by connect_agent.
  int sidecar_socket() const { return sidecar_.get(); }
  void close_sidecar_socket() { sidecar_.reset(); }

 private:
  void run(const Script& script, const RegionShape& shape);

  base::UniqueFd sidecar_;
  base::UniqueFd agent_;
  std::thread thread_;
};

} // namespace jprof::testing
