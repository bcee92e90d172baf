// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::capture {

inline constexpr char kManifestFile[] = "manifest.json";
inline constexpr char kApiVersion[] = "jprof.dev/v1alpha1";
inline constexpr std::size_t kMaxManifestBytes = 1024 * 1024;

// Where the JVM runs, as the caller or the configuration claims.
struct Source {
  std::string cluster;
  std::string namespace_name;
  std::string pod;
  std::string pod_uid;
  std::string node;
  std::string container;
  std::string workload_kind; // "Deployment"; empty: a bare pod
  std::string workload;
  std::string image;
  std::string image_digest;
};

struct BundleFile {
  std::string name;   // plain name within the capture's directory
  std::string format; // "jprof", "html", ...
  std::uint64_t bytes = 0;
  std::string sha256; // 64 lower-case hexadecimal digits
};

// What a capture is: who asked, why, what was done, when, where, and what came of it. Written last
// into a bundle, so its presence means that the rest is whole. Times are RFC 3339 UTC, text is not
// trusted (names come from the JVM and the caller). docs/formats/capture.md.
struct Manifest {
  std::string id;
  std::string trigger; // manual, schedule, incident
  std::string requester;
  std::string cause;
  std::string request_time; // the time of the object key
  std::string start_time;   // of the recording
  Source source;
  std::vector<BundleFile> files; // all but the manifest
  bool partial = false;
  std::string partial_reason;
  // What the recorder measured, as it is shown: event, engine, walker, intervals, counts, losses by
  // cause, the agent's cost, hottest methods, JVM. Numbers are integers in the unit of their name.
  base::Json measured = base::Json::object();
  std::string jprof_version;
};

// JSON with a checksum of its own text. The same manifest gives the same bytes.
std::string encode_manifest(const Manifest& manifest);

// Checks the checksum, the id, names and digests of files: a torn or changed manifest is
// kInvalidData, one of a newer version kProtocol (leave it alone), a too large one kLimit.
base::Result<Manifest> parse_manifest(std::string_view text);

// The members without the checksum, for frames and --json.
base::Json manifest_json(const Manifest& manifest);
// The same object without a checksum, from the other side of a connection.
base::Result<Manifest> manifest_from_json(const base::Json& json);

} // namespace jprof::capture
