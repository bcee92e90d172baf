// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The control socket between sidecar and agent: a SEQPACKET Unix socket that the sidecar binds in
// the target's /tmp and the agent connects to. One message per packet, each a ControlHeader and a
// fixed struct; a message longer than expected is accepted (a newer peer), a shorter one is
// refused. docs/formats/region.md.
//
// Order: agent connects; the sidecar checks SO_PEERCRED; agent sends Hello with the nonce of the
// option string; sidecar answers Start with the region's memfd (SCM_RIGHTS); agent answers Started
// or Failed. While recording: sidecar sends Drained at >= 4 Hz, Stop, or SymbolsWanted with a
// memfd, which the agent answers with Symbols; agent sends Stopped once, last. Only a hang-up of
// either side, never a timeout, means that it is gone. Messages of unknown types are skipped.

#include <cstddef>
#include <cstdint>

namespace jprof::wire {

inline constexpr std::uint32_t kControlVersion = 1;
inline constexpr std::uint32_t kMinControlVersion = 1;

enum class ControlType : std::uint32_t {
  kHello = 1,         // agent -> sidecar
  kStart = 2,         // sidecar -> agent, with the memfd
  kStarted = 3,       // agent -> sidecar
  kFailed = 4,        // agent -> sidecar: no session; the agent is idle again
  kDrained = 5,       // sidecar -> agent
  kStop = 6,          // sidecar -> agent
  kStopped = 7,       // agent -> sidecar: the region is final
  kSymbolsWanted = 8, // sidecar -> agent, with a memfd, for a module whose file it cannot open
  kSymbols = 9,       // agent -> sidecar: what it has written to the memfd
};

struct ControlHeader {
  std::uint32_t type;  // ControlType
  std::uint32_t bytes; // of the whole message, including this header
};

inline constexpr std::size_t kNonceBytes = 16;

struct HelloMessage {
  ControlHeader header;
  std::uint32_t version;
  std::uint32_t min_version;
  std::uint8_t nonce[kNonceBytes]; // as given in the option string
  std::uint32_t pid;               // in the JVM's own PID namespace
  std::uint32_t resident;          // 1: an older copy answers in place of a new one
  char agent_version[32];          // NUL-terminated
  char java_version[64];           // from the JVM's own version string, NUL-terminated
};

struct StartMessage {
  ControlHeader header;
  std::uint32_t version; // chosen by the sidecar, within both ranges
  std::uint32_t engine;  // wire::Engine
  std::uint32_t walker;  // wire::Walker
  std::uint32_t max_depth;
  std::uint64_t region_bytes;
  std::uint64_t session[2]; // identifies the session, repeated in the region's header
  std::uint64_t interval_ns;
  std::uint64_t duration_ns;           // the agent stops by itself this long after its start
  std::uint32_t max_overhead_permille; // 0: no limit
  std::uint32_t signal;                // 0: SIGPROF, or another one without a handler
  std::uint64_t flags;                 // StartFlag bits
  std::uint64_t reserved[4];
};

enum class StartFlag : std::uint64_t {
  // Something that slows the JVM down may stay in it after the session: what the walkers that open
  // JVMTI leave on in JDK 21 and later.
  kMayLeaveBehind = 1,
  // For tests: each stack is walked once more, without the frame cache, and compared.
  kCheckCache = 2,
};

struct StartedMessage {
  ControlHeader header;
  std::uint32_t threads_armed;
  std::uint32_t threads_failed;
  std::uint64_t start_mono_ns;
  std::uint64_t start_nanos; // Start received -> first timer armed
};

// Why a session could not start. The sidecar turns each into a message with its cure.
enum class AgentStatus : std::uint32_t {
  kOk = 0,
  kBadMessage = 1,
  kVersionMismatch = 2,
  kNoVmStructs = 3, // not a HotSpot that exports its structures
  kUnsupportedJvm = 4,
  kBusy = 5, // another session runs in this JVM
  kMapFailed = 6,
  kSignalTaken = 7, // the signal asked for has a handler, or no signal is free
  kNoTimers = 8,    // not one timer could be created
  kWalkerUnavailable = 9,
  kEngineUnavailable = 10,
  kNoThread = 11,          // no native thread could be made
  kOtherPidNamespace = 12, // /proc in the JVM is not the JVM's own
  kVmExiting = 13,
  kRegionTooSmall = 14,
  kHandlerBusy = 15,     // a thread has not left the last session's handler; `detail` names it
  kHandlersChecked = 16, // -Xcheck:jni, and the kernel cannot read memory for our handlers
  kLeavesBehind = 17,    // without StartFlag::kMayLeaveBehind
  kCallForbidden = 18,   // by a seccomp filter; `detail` names the system call
};

struct FailedMessage {
  ControlHeader header;
  std::uint32_t status;  // AgentStatus
  std::int32_t os_errno; // 0 if none
  char detail[128];      // NUL-terminated, plain ASCII
};

struct DrainedMessage {
  ControlHeader header;
  std::uint64_t ring_tail; // every sample below it has been read
  std::uint32_t
      drained_generation; // every closed generation with a number <= this has been read completely
  std::uint32_t reserved;
};

struct StopMessage {
  ControlHeader header;
};

// Why the sampling signal's handler is still installed, doing nothing: threads that may still
// receive one of our signals (docs/design/agent.md, "The stop"). threads == 0: it is gone.
struct HandlerLeft {
  std::uint32_t threads;
  std::uint32_t tid; // one of them
  std::uint32_t
      tracer; // its tracer's pid in the JVM's PID namespace; 0: none, or one outside that namespace
  std::uint32_t state; // its letter in proc(5)
};

struct StoppedMessage {
  ControlHeader header;
  std::uint32_t reason;    // wire::StopReason
  std::uint32_t in_flight; // handlers that did not leave in time: mapping and fault handlers stay
                           // until they have
  std::uint64_t stop_mono_ns;
  HandlerLeft handler_left;
};

// For a module whose file the sidecar cannot use (deleted, replaced, never a file): the sidecar
// makes the memfd, like the region, so that its own cgroup pays.
struct SymbolsWantedMessage {
  ControlHeader header;
  std::uint64_t base;  // of the module, as in its ModuleSlot
  std::uint64_t bytes; // in the memfd; the agent writes no more than that
};

// A piece of the module's memory, copied to `offset` of the memfd. bytes == 0: there is none, or it
// does not fit.
struct SymbolsPiece {
  std::uint64_t address; // link-time
  std::uint64_t offset;
  std::uint64_t bytes;
};
struct SymbolsMessage {
  ControlHeader header;
  std::uint64_t base;
  SymbolsPiece symbols;      // .dynsym: Elf64_Sym[]
  SymbolsPiece strings;      // .dynstr
  SymbolsPiece frame_header; // .eh_frame_hdr
};

static_assert(sizeof(ControlHeader) == 8);
static_assert(sizeof(HelloMessage) == 136);
static_assert(sizeof(StartMessage) == 112);
static_assert(sizeof(StartedMessage) == 32);
static_assert(sizeof(FailedMessage) == 144);
static_assert(sizeof(DrainedMessage) == 24);
static_assert(sizeof(StoppedMessage) == 40);
static_assert(sizeof(SymbolsWantedMessage) == 24);
static_assert(sizeof(SymbolsMessage) == 88);

inline constexpr std::size_t kMaxControlBytes = 512;

} // namespace jprof::wire
