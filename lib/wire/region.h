// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording region: shared memory between the agent (writes) and the sidecar (preads, never
// maps). Described in docs/formats/region.md. Freestanding: also compiled into the agent.
//
// Rules of evolution: an agent stays resident for months, so a reader accepts every agent whose
// min_reader_version <= kRegionVersion. Every table's record size is in its Section; a reader uses
// the fields it knows and steps by that size. Unknown section, record and counter kinds are
// skipped. All integers are little endian and naturally aligned; times are CLOCK_MONOTONIC
// nanoseconds.

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace jprof::wire {

inline constexpr std::uint64_t kRegionMagic = 0x314e47524650524aULL; // "JRPFRGN1" in memory order
inline constexpr std::uint32_t kRegionVersion = 1;
inline constexpr std::uint32_t kMinReaderVersion = 1;
inline constexpr std::size_t kRegionHeaderBytes = 4096;
inline constexpr std::size_t kMaxSections = 16;
inline constexpr std::size_t kMaxCounters = 96;
inline constexpr std::size_t kGenerations = 2;

// What a section of the region holds. Offsets are from the start of the region.
enum class SectionKind : std::uint32_t {
  kNone = 0,
  kSampleRing = 1, // SampleSlot[capacity], a ring
  kThreads = 2,    // ThreadSlot[capacity], in place
  kModules = 3,    // ModuleSlot[capacity], in place
  kStacks0 = 4,    // arena of StackRecords, generation slot 0
  kStacks1 = 5,    // ... generation slot 1
  kNames0 = 6,     // arena of NameRecords, generation slot 0
  kNames1 = 7,     // ... generation slot 1
  kPrivate = 8,    // the agent's own (hash tables, scratch); means nothing to a reader
};

struct Section {
  std::uint32_t kind;         // SectionKind
  std::uint32_t record_bytes; // 0 for an arena, whose records carry their own size
  std::uint64_t offset;
  std::uint64_t bytes;
};
static_assert(sizeof(Section) == 24);

// Every handled signal has exactly one of these outcomes, or is in flight: kEntered =
// sum(kOutcome*) + signals in flight, at any instant and in a killed JVM. kEntered counts every
// entry of our handler, including foreign signals.
enum class Counter : std::uint32_t {
  kEntered = 0,
  kOutcomeStack = 1,    // sample with a walked stack
  kOutcomeError = 2,    // sample whose stack is one error frame (see ErrorFrame), or ends in one
  kOutcomeRingFull = 3, // lost: the reader is too slow; weight in kLostWeight
  kOutcomeForeign = 4,  // not our timer: passed on to the handler that was there before ours
  kOutcomeStale = 5,    // our timer, but of a session or thread slot that has ended
  kOutcomeNested = 6,   // arrived inside our own handler on this thread
  kWeight = 16,         // sum of the weights of kOutcomeStack and kOutcomeError samples
  kLostWeight = 17,     // sum of the weights of kOutcomeRingFull
  kOverruns = 18,       // sum of si_overrun
  kHandlerNanos = 19,   // CPU time inside the handler
  kHandlerMaxNanos = 20,
  kTruncatedDepth = 21, // stacks cut because they are deeper than the depth in force
  kStackStoreFull = 22, // stacks replaced by an error frame because the arena is full
  kNameStoreFull = 23,  // frames without a name because the arena is full
  kNoScratch = 24,      // no scratch buffer was free: the sample is an error frame
  kFaults = 25,         // protected loads that faulted
  kGenerationFlips = 26,
  kThreadsArmed = 27,      // threads that have, or had, a timer
  kThreadsNeverArmed = 28, // threads that never had one
  kTimerLimit = 29,        // threads that got none when first seen, because of RLIMIT_SIGPENDING
  kThreadSlotsFull = 30,   // threads for which the table had no room: the maximum at one time
  kTimersMoved = 31,       // timers taken from a thread for another one
  kProcessCpuNanosAtStart = 32, // before the first timer is made
  kProcessCpuNanosAtStop = 33,  // when the timers were gone; until then updated twice a second
  kAgentCpuNanos = 34,          // CPU time of the agent's own thread
  kDeliveryNanos = 35,          // calibrated cost of delivering one signal
  kStartNanos = 36,             // start message received -> first timer armed
  kInFlightAtStop = 37,         // handlers that did not leave before the stop's deadline
  kJvmUnloadEpoch = 38,
  kDetailLost = 39,       // steps taken to stay within max_overhead_permille: docs/design/agent.md
  kIntervalNanosNow = 40, // the interval in force
  kPerfRefusal =
      41, // why kPerfClock was not used: errno or kPerfNotTried; 0: used, or not asked for
  kThreadsByTimer = 42, // with kPerfClock: threads that have a timer all the same
  kOtherSignal = 43,    // the signal used instead of SIGPROF, which has a handler; 0: SIGPROF
  kAgentCpuNanosBetween =
      44, // the part of kAgentCpuNanos between the two readings of the process's clock
  // CPU time of the other threads while the first timers were made and the last ones removed: it
  // may be between the readings of the process's clock and in no thread's account.
  kArmingCpuNanos = 45,
  kAgentCpuNanosSettled = 46, // kAgentCpuNanosBetween once all one-time work was done; 0: not yet
  kSettledNanos = 47,         // ... and how long after the start that was
  kLeftBehind = 48,           // 1: this session turned JVMTI's mount notifications on, for good
  kTimersLeft =
      52, // timers and perf events that the kernel would not delete, since the JVM's start
  kTimersRunning = 53,       // those of them that it would not disarm either
  kStopRefused = 54,         // StopRefusal bits
  kFrameCacheHits = 56,      // compiled callers whose frames were known from earlier walks
  kFrameCacheMisses = 57,    // ... that had to be read from the JVM's own tables
  kFrameCacheEvictions = 58, // frames evicted for others; if many, the cache is too small
  kCacheChecks = 59,         // with StartFlag::kCheckCache: stacks also walked without the cache
  kCacheDifferences = 60,    // ... that differed each time
  kInliningDetail = 61,      // InliningDetail
  kOldCodeNanos = 62,        // the part of kWeight in code compiled earlier, if that is kSinceStart
};

// Counter::kPerfRefusal if a seccomp filter is in force: it might kill the process for the attempt.
inline constexpr std::uint32_t kPerfNotTried = 0x10000;
// The same if SIGPROF belongs to somebody else: perf would need a real-time signal, of which it
// falls back to SIGIO when too many are queued (fcntl(2), F_SETSIG), and SIGIO ends a process.
inline constexpr std::uint32_t kPerfNeedsSigprof = 0x10001;

// Counter::kInliningDetail: since when the JVM's compilers record for each instruction which
// inlined method it belongs to (DebugNonSafepoints). Code compiled before that names only the
// callers.
enum class InliningDetail : std::uint64_t {
  kUnknown = 0, // also: it is unknown which code was compiled earlier
  kBefore = 1,  // it was already on, probably since the JVM began
  kSinceStart = 2,
};

// Counter::kStopRefused: what the kernel did not let the agent undo, and what therefore stays for
// good.
enum class StopRefusal : std::uint64_t {
  kHandlers = 1, // rt_sigaction
  kRegion = 2,   // munmap
};

enum class RegionState : std::uint32_t {
  kEmpty = 0, // made by the sidecar; the agent has not yet written its header
  kRecording = 1,
  kStopping = 2, // timers are gone, handlers are leaving
  kStopped = 3,  // nothing is written any more: the content is final
};

enum class StopReason : std::uint32_t {
  kNone = 0,
  kAsked = 1,
  kDeadline = 2,
  kPeerGone = 3, // the control socket hung up
  kOverhead = 4, // --max-overhead
  kVmExit = 5,
  kHandlerReplaced = 6, // somebody took our signal
  kAgentError = 7,
};

// Engine: what decides when to sample. Walker: what names the frames. An agent that is asked for
// kPerfClock but may not use it takes kCpuTimer and says so in its header.
enum class Engine : std::uint32_t { kCpuTimer = 1, kPerfClock = 2, kWallClock = 3 };
enum class Walker : std::uint32_t {
  kVmStructs = 1,
  kAsyncGetCallTrace = 2,
  kGetStackTrace = 3,
  kJmx = 4
};

// State of a generation slot (stacks and names live in generations; samples name theirs).
enum class GenerationState : std::uint32_t {
  kFree = 0,   // may be reset and become active
  kActive = 1, // handlers write into it
  kClosed = 2, // no handler writes any more; waits for kDrained of the control socket
};

struct GenerationInfo {
  std::uint32_t number; // counts up from 1; a slot's number changes only when it becomes active
  std::uint32_t state;  // GenerationState
  std::uint64_t stacks_committed_bytes; // upper bound of reserved bytes in the stacks arena
  std::uint64_t names_committed_bytes;  // ... in the names arena
  std::uint64_t reserved;
};
static_assert(sizeof(GenerationInfo) == 32);

struct RegionHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t min_reader_version;
  std::uint64_t region_bytes;
  std::uint64_t session[2];  // the nonce of the start message
  std::uint32_t state;       // RegionState
  std::uint32_t stop_reason; // StopReason
  std::uint32_t engine;      // Engine
  std::uint32_t walker;      // Walker
  std::uint64_t interval_ns; // asked for
  std::uint64_t tick_ns;     // granularity of the source; 0 if it keeps any interval
  std::uint64_t start_mono_ns;
  std::uint64_t start_realtime_ns; // taken at the same instant
  std::uint64_t deadline_mono_ns;
  std::uint64_t stop_mono_ns;      // 0 while recording
  std::uint64_t heartbeat_mono_ns; // written by the agent's thread at least twice a second
  std::uint32_t pid;               // in the JVM's own PID namespace
  std::uint32_t section_count;
  std::uint32_t counter_count;
  std::uint32_t max_depth; // in force
  std::uint64_t ring_head; // slots reserved since the start (atomic)
  std::uint64_t ring_tail; // slots that the sidecar has acknowledged (the agent's copy)
  Section sections[kMaxSections];
  GenerationInfo generations[kGenerations];
  std::uint64_t counters[kMaxCounters]; // indexed by Counter (atomic)
};
static_assert(std::is_trivially_copyable_v<RegionHeader>);
static_assert(sizeof(RegionHeader) <= kRegionHeaderBytes);

// One sample. Slot i of the ring holds sample number n where n % capacity == i; it is complete when
// ticket == n + 1 (written last, release). A reader stops at the first incomplete slot; after the
// region's state is kStopped, or the JVM is dead, incomplete slots below ring_head are in flight.
struct SampleSlot {
  std::uint64_t ticket;
  std::uint64_t time_ns;
  std::uint64_t weight;     // in the event's unit: ns for cpu and wall, bytes for alloc
  std::uint64_t context;    // trace or span id, 0 if none
  std::uint32_t thread;     // index into kThreads
  std::uint32_t tid;        // in the JVM's own PID namespace
  std::uint32_t generation; // GenerationInfo::number, for stack
  std::uint32_t stack;      // byte offset / 8 of a StackRecord in the generation's arena, or an
                            // error: kStackIsError | ErrorFrame
  std::uint32_t link;       // lock owner or request id, 0 if none
  std::uint16_t event;      // EventKind
  std::uint8_t state;       // ThreadState
  std::uint8_t flags;       // reserved
  std::uint64_t reserved;
};
static_assert(sizeof(SampleSlot) == 64);

inline constexpr std::uint32_t kStackIsError = 0x80000000U;

enum class EventKind : std::uint16_t { kCpu = 1, kWall = 2, kAlloc = 3, kLock = 4 };
enum class ThreadState : std::uint8_t {
  kUnknown = 0,
  kRunning = 1,
  kRunnable = 2,
  kSleeping = 3,
  kWaiting = 4,
  kParked = 5,
  kBlocked = 6,
  kInNative = 7,
};

// Why a sample, or the rest of a stack, has no frames. `kError` frames carry it as payload.
enum class ErrorFrame : std::uint32_t {
  kNone = 0,
  kNotWalkable = 1, // no frame could be found at the interrupted pc
  kBrokenStack = 2, // the walk left the thread's stack or did not progress
  kFault = 3,       // a load faulted
  kUnknownBlob = 4, // pc in the code cache, but in no code blob
  kNoMethod = 5,    // a frame without a plausible method
  kStackStoreFull = 6,
  kNoScratch = 7,
  kGcActive = 8,
  kThreadExiting = 9,
  kInDeopt = 10,
  kUnsafeState = 11, // the JVM was in a state in which the walker may not look
  kNameStoreFull = 12,
  kNoJavaFrames = 13, // a walker of Java frames only found none: not a failure
  kFrozenFrames = 14, // frames of a virtual thread in the heap could not be read
  kJumpedOut = 15,    // a handler of the program left ours by siglongjmp()
};

// A frame, leaf first in a StackRecord: kind (4 bits) | payload (60 bits).
//   native:          payload = address
//   kernel:          payload = KernelFrame
//   Java:            payload = bci (16 bits, kNoBci: none) << 32 | name (byte offset / 8 of a
//                    NameRecord in the same generation's arena; 0: none, see kNameStoreFull)
//   stub:            payload = name
//   error:           payload = ErrorFrame
enum class FrameKind : std::uint8_t {
  kNone = 0,
  kInterpreted = 1,
  kC1 = 2,      // compiled by C1 (tiers 1 to 3)
  kC2 = 3,      // compiled by C2 or a JVMCI compiler (tier 4)
  kInlined = 4, // inlined into the next physical frame
  kNative = 5,  // an address in a module: C code, the JVM itself
  kStub = 6,    // generated code that is not a method
  kKernel = 7,
  kError = 8,
  kJavaNative = 9, // a native method (its wrapper's frame)
  kJava = 10,      // compiled or not: the walker does not say
};
using Frame = std::uint64_t;
inline constexpr std::uint64_t kNoBci = 0xffff;

constexpr Frame make_frame(FrameKind kind, std::uint64_t payload) {
  return static_cast<std::uint64_t>(kind) << 60 | (payload & 0x0fffffffffffffffULL);
}
constexpr Frame make_java_frame(FrameKind kind, std::uint64_t bci, std::uint32_t name) {
  return make_frame(kind, (bci & 0xffff) << 32 | name);
}
// What took the thread into the kernel.
enum class KernelFrame : std::uint64_t { kSystemCall = 0, kPageFault = 1 };
constexpr Frame make_kernel_frame(KernelFrame cause) {
  return make_frame(FrameKind::kKernel, static_cast<std::uint64_t>(cause));
}

constexpr FrameKind frame_kind(Frame frame) {
  return static_cast<FrameKind>(frame >> 60);
}
constexpr std::uint64_t frame_payload(Frame frame) {
  return frame & 0x0fffffffffffffffULL;
}
constexpr std::uint32_t frame_name(Frame frame) {
  return static_cast<std::uint32_t>(frame);
}
constexpr std::uint64_t frame_bci(Frame frame) {
  return frame >> 32 & 0xffff;
}

// Arenas: records at 8-byte multiples, the first at offset 8 (so that offset 0 is "none"). `ready`
// is written last (release); a record that is not ready, at the end of an arena, is being written.
enum class StackFlag : std::uint16_t {
  kTruncated = 1,
  kMiddleCut = 2
}; // deeper; root and leaf only
struct StackRecord {
  std::uint32_t ready; // 1 when complete
  std::uint16_t depth; // frames that follow
  std::uint16_t flags; // StackFlag bits
  std::uint64_t hash;  // of the frames: a hint only, equality is by comparison
  // Frame frames[depth], leaf first
};
static_assert(sizeof(StackRecord) == 16);

enum class NameKind : std::uint16_t {
  kMethod = 1,
  kStub = 2,
};
enum class NameFlag : std::uint16_t {
  kClassCut = 1,
  kNameCut = 2,
  kSignatureCut = 4,
  kHasLines = 8,          // HotSpot's compressed line table follows the text (oops/constMethod,
                          // code/compressedStream)
  kLinesExcludeZero = 16, // ... whose numbers are written without zero bytes: JDK 20 and later
};
struct NameRecord {
  std::uint32_t ready;        // 1 when complete
  std::uint32_t record_bytes; // whole record, a multiple of 8
  std::uint16_t kind;         // NameKind
  std::uint16_t flags;        // NameFlag bits
  std::uint16_t class_bytes;  // internal form, "java/lang/String", modified UTF-8
  std::uint16_t name_bytes;
  std::uint16_t signature_bytes;
  std::uint16_t access_flags; // JVMS 4.6
  std::uint32_t
      version; // distinguishes bytecodes of one name at one address; means nothing to a reader
  std::uint64_t address; // of the Method or code blob when it was named
  // char text[class_bytes + name_bytes + signature_bytes], with kHasLines a line table, then zeros
  // to record_bytes
};
static_assert(sizeof(NameRecord) == 32);

// In-place tables. `seq` is odd while a record is being written: read it, the record, it again.
inline constexpr std::size_t kThreadNameBytes = 96;
struct ThreadSlot {
  std::uint32_t seq;
  std::uint32_t tid;              // 0: never used
  std::uint64_t java_id;          // Thread.getId(), 0 for a native thread
  std::uint64_t virtual_id;       // of the virtual thread mounted when named, 0 if none
  std::uint64_t armed_ns;         // when its timer was made
  std::uint64_t disarmed_ns;      // 0 while armed
  std::uint64_t cpu_at_arm_ns;    // 0 for a thread that began during the session
  std::uint64_t cpu_at_disarm_ns; // kept up to date twice a second while armed
  std::uint64_t signals;          // handled in this thread
  std::uint32_t incarnation;      // a slot is reused after its thread ended: counts up
  std::uint16_t name_bytes;
  std::uint16_t flags;         // ThreadFlag bits
  char name[kThreadNameBytes]; // UTF-8, as the JVM (Java threads) or the kernel gives it
  std::uint64_t
      rest_ns; // written with disarmed_ns: CPU time since arming that is in no sample's weight
  std::uint64_t reserved[2];
};
static_assert(sizeof(ThreadSlot) == 192);
enum class ThreadFlag : std::uint16_t {
  kJava = 1,
  kArmed = 2,
  kSignalBlocked = 4,
  kNeverArmed = 8,
  kSandboxed = 16 // has seccomp filters of its own; not sampled since they were found
};

inline constexpr std::size_t kModulePathBytes = 256;
struct ModuleSlot {
  std::uint32_t seq;
  std::uint32_t path_bytes;
  std::uint64_t base; // lowest mapped address
  std::uint64_t end;  // one past the highest
  std::uint64_t bias; // address = p_vaddr + bias
  std::uint64_t loaded_ns;
  std::uint64_t unloaded_ns; // 0 while loaded
  std::uint8_t build_id[32];
  std::uint32_t build_id_bytes; // 0: none
  std::uint32_t reserved;
  char path[kModulePathBytes]; // as the JVM's own mount namespace names it, cut from the left
};
static_assert(sizeof(ModuleSlot) == 344);

} // namespace jprof::wire
