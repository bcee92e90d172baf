// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/results.h"

#include "lib/base/timestamp.h"
#include "lib/capture/bundle.h"
#include "sidecar/doctor/report.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/serve/forecast.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jprof::serve {
namespace {

using base::Json;

constexpr std::size_t kMaxListed = 200;
constexpr std::size_t kMaxTargets = 100;

base::Result<protocol::ResultFile> manifest_file(const std::string& directory) {
  JPROF_TRY_ASSIGN(const capture::FileDigest digest,
                   capture::digest_file(directory + "/" + capture::kManifestFile));
  return protocol::ResultFile{capture::kManifestFile, digest.bytes, 0, digest.sha256};
}

// 0, 6 for a partial capture, 7 if a derived file could not be made.
void judge(const capture::Manifest& manifest, protocol::ResultMessage& result) {
  const Json& errors = base::json_array(manifest.measured, "fileErrors");
  if (!manifest.partial && errors.empty()) {
    return;
  }
  if (manifest.partial) {
    result.message = "partial capture: " + manifest.partial_reason;
    result.cure = "what was recorded until then is whole and kept";
  }
  for (const Json& error : errors) {
    result.message += (result.message.empty() ? "" : "; ") +
                      (error.is_string() ? error.get<std::string>() : "a file is missing");
  }
  if (!errors.empty()) {
    result.cure = "the recording is kept: 'jprof convert' turns it into other files";
  }
  const base::ErrorCode code =
      manifest.partial ? base::ErrorCode::kPartialCapture : base::ErrorCode::kNotStored;
  result.exit_code = base::exit_code(code);
  result.reason = base::reason_word(code);
}

base::Result<Reply> reply_for(const spool::Entry& entry, capture::Manifest& manifest) {
  JPROF_TRY_ASSIGN(manifest, capture::read_manifest(entry.directory));
  Reply reply;
  reply.directory = entry.directory;
  reply.result.id = manifest.id;
  reply.result.manifest = capture::manifest_json(manifest);
  judge(manifest, reply.result);
  return reply;
}

} // namespace

base::Result<Reply> reply_by_format(const spool::Entry& entry,
                                    const std::vector<std::string>& formats) {
  capture::Manifest manifest;
  JPROF_TRY_ASSIGN(Reply reply, reply_for(entry, manifest));
  for (const capture::BundleFile& file : manifest.files) {
    if (std::find(formats.begin(), formats.end(), file.format) != formats.end()) {
      reply.result.files.push_back({file.name, file.bytes, 0, file.sha256});
    }
  }
  // The recording comes last: a page should not have to wait for it.
  std::stable_partition(reply.result.files.begin(), reply.result.files.end(),
                        [](const auto& file) { return !file.name.ends_with(".jprof"); });
  if (std::find(formats.begin(), formats.end(), "manifest") != formats.end()) {
    JPROF_TRY_ASSIGN(protocol::ResultFile file, manifest_file(entry.directory));
    reply.result.files.push_back(std::move(file));
  }
  return reply;
}

base::Result<Reply> reply_by_name(const spool::Entry& entry,
                                  const protocol::FetchRequest& request) {
  capture::Manifest manifest;
  JPROF_TRY_ASSIGN(Reply reply, reply_for(entry, manifest));
  std::vector<protocol::ResultFile> all;
  for (const capture::BundleFile& file : manifest.files) {
    all.push_back({file.name, file.bytes, 0, file.sha256});
  }
  if (request.names.empty()) {
    reply.result.files = std::move(all);
    return reply;
  }
  JPROF_TRY_ASSIGN(protocol::ResultFile last, manifest_file(entry.directory));
  all.push_back(std::move(last));
  for (std::size_t i = 0; i < request.names.size(); ++i) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const protocol::ResultFile& file) {
      return file.name == request.names[i] && request.offsets[i] <= file.bytes;
    });
    if (found == all.end()) {
      return base::make_failure(base::ErrorCode::kNotFound,
                                "capture " + entry.id + " has no file '" + request.names[i] +
                                    "' of that length",
                                "fetch all of it: without names");
    }
    reply.result.files.push_back(*found);
    reply.result.files.back().offset = request.offsets[i];
  }
  return reply;
}

protocol::ResultMessage list_reply(const spool::Spool& spool) {
  std::vector<spool::Entry> entries = spool.list();
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.changed > b.changed; });
  entries.resize(std::min(entries.size(), kMaxListed));
  protocol::ResultMessage result;
  for (const spool::Entry& entry : entries) {
    Json json = {{"id", entry.id},
                 {"state", spool::place_word(entry.place)},
                 {"bytes", entry.bytes},
                 {"changed", base::format_utc(entry.changed)}};
    if (const auto manifest = capture::read_manifest(entry.directory)) {
      json["trigger"] = manifest->trigger;
      json["requester"] = manifest->requester;
      json["requestTime"] = manifest->request_time;
      json["partial"] = manifest->partial;
    }
    result.captures.push_back(std::move(json));
  }
  return result;
}

base::Result<protocol::ResultMessage> targets_reply(const ServeContext& context,
                                                    const protocol::TargetsRequest& request) {
  const config::SidecarConfig& config = context.config;
  JPROF_TRY_ASSIGN(std::vector<jvm::Candidate> found, jvm::find_jvms());
  std::optional<inject::SharedVolume> volume;
  if (!config.agent_volume.empty()) {
    volume = inject::SharedVolume{config.agent_volume, ""};
  }
  std::vector<doctor::Examination> examined;
  for (jvm::Candidate& candidate : found) {
    if (examined.size() < kMaxTargets) {
      examined.push_back(doctor::examine(std::move(candidate), volume, request.pod_memory));
    }
  }
  protocol::ResultMessage result;
  result.targets = base::json_array(doctor::to_json(examined), "jvms");
  for (std::size_t i = 0; i < examined.size(); ++i) {
    std::vector<checks::Check> more;
    if (examined[i].candidate) {
      more.push_back(check_free(context, examined[i].candidate->target));
    }
    if (i + 1 == examined.size()) { // of none of them in particular
      std::ranges::move(check_serve(context), std::back_inserter(more));
    }
    for (const Json& row : checks::to_json(more)) {
      result.targets[i]["checks"].push_back(row);
    }
  }
  return result;
}

} // namespace jprof::serve
