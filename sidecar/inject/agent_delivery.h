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
  void remove();
  void keep(); // the copy stays where it is, whatever follows

 private:
  const jvm::Target* target_; // outlives us: both live in connect_agent
  AgentSource source_;
  std::string path_;
  base::UniqueFd directory_; // of our copy
  std::string name_;
};

// Tries the ways in order; each one skipped goes to `skipped` with its reason. kNoPlaceForAgent if
// none is left.
base::Result<DeliveredAgent> deliver_agent(const jvm::Target& target, const AgentOptions& options,
                                           base::Deadline deadline,
                                           std::vector<std::string>& skipped);

} // namespace jprof::inject
