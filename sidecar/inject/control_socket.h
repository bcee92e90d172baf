// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/wire/control.h"
#include "sidecar/jvm/target.h"

#include <array>
#include <cstdint>
#include <string>

namespace jprof::inject {

// The socket to which the agent connects: bound in the target's /tmp, through its root, under a
// name that nobody can guess; mode 0600, owned by the target's uid. Unlinked by close() or, at the
// latest, by the destructor.
class ControlSocket {
 public:
  using Nonce = std::array<std::uint8_t, wire::kNonceBytes>;

  static base::Result<ControlSocket> create(const jvm::Target& target, base::Deadline deadline);
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // The option string for the agent (lib/wire/agent_options.h).
  std::string agent_options() const;
  const std::string& path() const { return path_; } // as the JVM sees it

  struct Accepted {
    base::UniqueFd socket;
    wire::HelloMessage hello{};
  };
  // Waits for the agent: the first peer that is the target's process and knows the nonce. Others
  // are disconnected. kTimeout at the deadline, kTargetGone if the JVM ends.
  base::Result<Accepted> accept(base::Deadline deadline) const;
  // Removes the name; nobody else can connect any more.
  void close();

 private:
  ControlSocket(const jvm::Target& target) : target_(&target) {}

  const jvm::Target* target_; // outlives us: both live in connect_agent
  base::UniqueFd directory_;  // the target's /tmp
  base::UniqueFd listener_;
  std::string name_;
  std::string path_;
  Nonce nonce_{};
};

} // namespace jprof::inject
