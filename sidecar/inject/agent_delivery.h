// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "sidecar/inject/agent_link.h"
#include "sidecar/jvm/target.h"

#include <string>
#include <vector>

namespace jprof::inject {

// libjprof.so where the JVM can load it. A copy of ours is unlinked by remove() or the destructor:
// the JVM keeps what it has mapped. Both then sweep away what killed sessions have left next to it.
//
// While the JVM has a request to load that it has not answered, the name must not become free: the
// directory is open to other users, and whatever has the name is loaded into the JVM, at whatever
// time. An empty file, which no loader accepts, then takes the copy's place and stays; a later
// session that this JVM has answered removes it.
class DeliveredAgent {
 public:
  DeliveredAgent(const jvm::Target& target, AgentSource source, std::string path)
      : target_(&target), source_(source), path_(std::move(path)) {}
  DeliveredAgent(DeliveredAgent&& other) noexcept;
  DeliveredAgent& operator=(DeliveredAgent&&) = delete;
  ~DeliveredAgent();

  AgentSource source() const { return source_; }
  const std::string& path() const { return path_; } // as the JVM sees it
  void owns(base::UniqueFd directory, std::string name);
  // An earlier request's: removed only if this one is answered.
  void adopts(base::UniqueFd directory, std::string name);
  void remove();
  void keep(); // the copy stays where it is, whatever follows
  // Whether the JVM may load this at any time.
  void request_is_pending(bool pending);
  // For a request that has failed with `error`: if it is pending, puts the empty file in place of
  // the copy, and says so.
  base::Error keep_name(base::Error error);

 private:
  const jvm::Target* target_; // outlives us: both live in connect_agent
  AgentSource source_;
  std::string path_;
  base::UniqueFd directory_; // of our copy
  std::string name_;
  bool adopted_ = false;
  bool pending_ = false;
  bool answered_ = false; // and so were all requests before it
};

// Tries the ways in order; each one skipped goes to `skipped` with its reason. kNoPlaceForAgent if
// none is left.
// The path from which the JVM has loaded the agent that it holds. If no file has that name any
// more, an empty one of ours does as long as the result lives. kPermission if another user's file
// has it.
base::Result<DeliveredAgent> hold_resident_name(const jvm::Target& target, base::Deadline deadline);

base::Result<DeliveredAgent> deliver_agent(const jvm::Target& target, const AgentOptions& options,
                                           base::Deadline deadline,
                                           std::vector<std::string>& skipped);

} // namespace jprof::inject
