// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/wire/control.h"
#include "sidecar/jvm/target.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jprof::inject {

// A volume that the JVM's container mounts read-only and the sidecar fills.
struct SharedVolume {
  std::string directory;        // as this process sees it
  std::string target_directory; // as the JVM sees it; empty: the same path
};

struct AgentOptions {
  std::string agent_file; // libjprof.so as this process sees it
  std::optional<SharedVolume> volume = std::nullopt;
  // For attach, load and the agent's first message together.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  // Checked several times a second while the JVM is waited for: true ends it with kInterrupted.
  std::function<bool()> stopped = nullptr;
};

// How the JVM got the library: it was there from an earlier session or -agentpath, was found on a
// shared volume, or was copied (ARCHITECTURE.md, "Delivery of the agent").
enum class AgentSource { kResident, kSharedVolume, kCopy };

// A JVM whose agent waits for the start message. The socket is SEQPACKET; its peer is the target by
// SO_PEERCRED and knew the nonce; everything else in `hello` is only the JVM's word. The link's
// owner owns the session: closing the socket ends it.
struct AgentLink {
  base::UniqueFd socket;
  wire::HelloMessage hello{}; // its strings certainly end in NUL
  AgentSource source = AgentSource::kCopy;
  std::string library; // path given to the JVM; no longer there for kCopy, except on musl
  std::string stays;   // the copy that is left while the JVM runs (musl), empty if none is
  std::vector<std::string> skipped; // why a better way was not taken, one sentence each
  bool handed_over = false;         // a different copy from the one just loaded answers
  // Names of ours in the target's file system that nobody needs any more: they are removed with
  // this object. Not at once, because the agent waits for its start. The target must outlive it.
  std::shared_ptr<void> leftovers;
};

// Creates the control socket in the target's /tmp, delivers libjprof.so, attaches, loads, accepts.
// Nothing is left in the target's file system, whatever the outcome: socket and copy are unlinked,
// after a success together with the link's leftovers. There are two exceptions: a JVM on musl needs
// the file of the copy that it has mapped in order to recognise it; and if the JVM has the whole
// request and has not answered, it may still load whatever has the name of the copy, so an empty
// file of ours keeps that name (the error says so) until a later session is answered. Errors: those
// of jvm::open_attach_socket; kNoPlaceForAgent, kAgentLoadingDisabled, kAgentFailed, kBusy as the
// agent's status, kProtocol; each with cause and cure.
base::Result<AgentLink> connect_agent(const jvm::Target& target, const AgentOptions& options);

// Why the requested shared volume was not used: printable, from `link.skipped`.
std::string volume_refusal(const AgentLink& link);

// Puts `agent_file` into a shared volume as libjprof.so, mode 0444, if it is not there already.
base::Status fill_volume(const std::string& agent_file, const std::string& directory);

// The sentence and cure for a Failed message of the agent (wire::AgentStatus).
base::Error agent_error(const wire::FailedMessage& message);

} // namespace jprof::inject
