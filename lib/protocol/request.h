// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// JSON payloads of frames (docs/formats/protocol.md). Every parser takes foreign bytes: unknown
// members are ignored, absent ones keep the defaults below, what is required and missing, or out of
// range, is kProtocol. Times on the wire are nanoseconds (...Ns) or RFC 3339 UTC.
namespace jprof::protocol {
// What a caller knows about the pod and the sidecar does not; all of it is claimed, none is
// trusted.
struct PodFacts {
  std::string cluster;
  std::string namespace_name;
  std::string pod;
  std::string pod_uid;
  std::string node;
  std::string container;     // the JVM's
  std::string workload_kind; // "Deployment"; empty: a bare pod
  std::string workload;
  std::string image;
  std::string image_digest;
};

struct RecordRequest {
  std::string id; // made by the caller: a ULID or 64 hexadecimal digits; a retry repeats it
  std::string trigger = "manual"; // manual, schedule, incident
  std::string requester;          // who, as claimed
  std::string cause;              // why, free text
  std::string request_time;       // RFC 3339 UTC, the time of the object key
  std::uint32_t pid = 0;          // 0: the only JVM
  std::string container_id;       // the runtime's, of the JVM's container; empty: any
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds interval{0}; // 0: the default
  std::string event = "cpu";
  std::string engine;               // empty: the default
  std::string walker;               // empty: the default
  bool leave_behind = false;        // what the walker leaves in the JVM for good may stay
  bool force = false;               // also where memory is short
  std::uint64_t pod_memory = 0;     // the pod's memory limit in bytes; 0: none, or not known
  std::vector<std::string> formats; // endings without a dot: "html", "collapsed", "jprof"
  bool send_files = true;           // false: keep them for `fetch`, send only the result
  bool join = false;                // another capture of this JVM is running: wait for its result
  PodFacts pod;
};

// Where to resume in each file: offsets[i] belongs to names[i]; empty names mean all files from 0.
struct FetchRequest {
  std::string id;
  std::vector<std::string> names;
  std::vector<std::uint64_t> offsets;
  bool wait = true; // the capture still runs: wait for it (else kBusy)
};

// The caller has everything that it wants of a capture, safely: the sidecar need not keep it.
struct ReleaseRequest {
  std::string id;
};

// One command for a JVM, in the words of `jprof attach`.
struct AttachRequest {
  std::string requester;               // who, as claimed
  std::uint32_t pid = 0;               // 0: the only JVM
  std::string command;                 // "threaddump"
  std::vector<std::string> arguments;  // of dumpheap without the path: its file is sent
  std::chrono::nanoseconds timeout{0}; // for the whole; 0: the sidecar's default
  std::string container_id;            // as in RecordRequest
};

// For kTargets, which also reports what would prevent a capture.
struct TargetsRequest {
  std::uint64_t pod_memory = 0; // as in RecordRequest
};

// kList: captures in the spool. kTargets: JVMs that the sidecar sees. kQuit: the container is no
// longer needed. kList and kQuit have no parameters.
enum class RequestKind { kRecord, kFetch, kList, kTargets, kRelease, kAttach, kQuit };

struct Request {
  RequestKind kind = RequestKind::kRecord;
  RecordRequest record; // of kRecord
  FetchRequest fetch;   // of kFetch
  ReleaseRequest release;
  AttachRequest attach;
  TargetsRequest targets;
};

std::string_view request_word(RequestKind kind);
std::string encode_request(const Request& request);
// An unknown type is kProtocol ("the sidecar is older...").
base::Result<Request> parse_request(std::string_view payload);

// Ends the running record request. kKeep: stop now, seal and send what there is. kDiscard: stop and
// discard.
enum class CancelMode { kKeep, kDiscard };
std::string encode_cancel(CancelMode mode);
base::Result<CancelMode> parse_cancel(std::string_view payload);

} // namespace jprof::protocol
