// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What Spool does after a crash, and when it is full.
#include "lib/base/deadline.h"
#include "lib/base/file.h"
#include "lib/capture/bundle.h"
#include "lib/capture/capture_id.h"
#include "sidecar/spool/file_lock.h"
#include "sidecar/spool/salvaged.h"
#include "sidecar/spool/spool.h"
#include "sidecar/spool/spool_files.h"

#include <algorithm>
#include <map>
#include <unistd.h>
#include <utility>

namespace jprof::spool {
namespace {

using namespace std::chrono_literals;

constexpr char kRecording[] = "profile.jprof";
constexpr std::size_t kMaxDraftBytes = 64 * 1024;

// A recording that holds less than its own header has no sample.
constexpr std::uint64_t kMinRecording = 64;

base::Result<capture::Manifest> read_draft(const std::string& directory) {
  JPROF_TRY_ASSIGN(const std::string text,
                   base::read_file(directory + "/" + kDraftFile, kMaxDraftBytes));
  JPROF_TRY_ASSIGN(const base::Json json, base::parse_json(text));
  return capture::manifest_from_json(json);
}

// Newer writers' manifests are whole: they are just not ours to judge.
bool is_damaged(const base::Error& error) {
  return error.code == base::ErrorCode::kInvalidData || error.code == base::ErrorCode::kNotFound ||
         error.code == base::ErrorCode::kLimit;
}

} // namespace

base::Result<capture::Manifest> Spool::salvage(const std::string& id, const std::string& reason) {
  const std::string path = capture_lock(id);
  JPROF_TRY_ASSIGN(const auto lock, FileLock::try_take(path, {id, "", ""}));
  // Checked again under the lock: it may have been sealed between the caller's check and ours.
  const bool left = lock && find(id).place == Place::kIncoming;
  auto result =
      left ? salvage_locked(id, reason)
           : base::Result<capture::Manifest>(base::make_failure(
                 base::ErrorCode::kBusy, "capture " + id + " was not left behind: its recorder " +
                                             (lock ? "has moved it" : "still runs")));
  if (lock) {
    ::unlink(path.c_str());
  }
  return result;
}

base::Result<capture::Manifest> Spool::salvage_locked(const std::string& id,
                                                      const std::string& reason) {
  const std::string directory = path(Place::kIncoming, id);
  if (auto committed = capture::read_manifest(directory)) {
    ::unlink((directory + "/" + kDraftFile).c_str());
    JPROF_TRY(move(id, Place::kIncoming, Place::kSealed));
    JPROF_TRY(ledger_.set_state(id, OpenState::kSealed));
    return committed;
  }
  auto draft = read_draft(directory);
  const auto recording = capture::digest_file(directory + "/" + kRecording);
  if (!draft || !recording || recording->bytes < kMinRecording) {
    JPROF_TRY(fail(id));
    return base::make_failure(base::ErrorCode::kTargetGone,
                              "capture " + id + " ended before it held a sample: " + reason);
  }
  draft->partial = true;
  draft->partial_reason = reason;
  describe_salvaged(directory + "/" + kRecording, *draft);
  draft->files = {{kRecording, "jprof", recording->bytes, recording->sha256}};
  JPROF_TRY(seal(id, *draft));
  return draft;
}

base::Status Spool::empty_trash() {
  const std::string trash = settings_.directory + "/trash";
  for (const std::string& name : names_in(trash)) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos) {
      const std::string ending = name.substr(0, dot);
      JPROF_TRY(ledger_.close(name.substr(dot + 1), ending == "delivered" ? Ending::kDelivered
                                                    : ending == "expired" ? Ending::kExpired
                                                    : ending == "failed"  ? Ending::kFailed
                                                                          : Ending::kAbandoned));
    }
    remove_tree(trash + "/" + name);
  }
  return {};
}

base::Status Spool::recover_ledger(std::vector<std::string>& lines) {
  const auto content = ledger_.read();
  if (content) {
    return {};
  }
  if (content.error().code != base::ErrorCode::kInvalidData) {
    return base::fail(content.error());
  }
  lines.push_back(
      "the spool's ledger is damaged: it is kept as ledger.damaged, and counts start again");
  return ledger_.replace_damaged();
}

std::vector<std::string> Spool::salvage_left(const std::string& reason) {
  std::vector<std::string> lines;
  for (const Entry& entry : list(Place::kIncoming)) {
    const auto result = salvage(entry.id, reason);
    if (result) {
      lines.push_back("capture " + entry.id + " was left behind, since " + reason + ": " +
                      (result->partial ? "sealed as partial" : "sealed"));
    } else if (result.error().code == base::ErrorCode::kTargetGone) {
      lines.push_back(result.error().message);
    } else if (result.error().code != base::ErrorCode::kBusy) {
      // The others must not wait for it.
      lines.push_back("capture " + entry.id + " cannot be sealed yet: " + result.error().text());
    }
  }
  return lines;
}

base::Status Spool::recover_sealed(std::vector<std::string>& lines) {
  // Fifty thousand captures must not delay the start: what is not examined here is examined when it
  // is delivered.
  const base::Deadline deadline = base::Deadline::after(1s);
  for (const std::string& id : names_in(path(Place::kSealed, ""))) {
    if (deadline.expired() || !capture::is_capture_id(id) ||
        !is_directory(path(Place::kSealed, id))) {
      continue;
    }
    const auto manifest = capture::read_manifest(path(Place::kSealed, id));
    if (!manifest && is_damaged(manifest.error())) {
      lines.push_back("capture " + id + " is quarantined: " + manifest.error().message);
      JPROF_TRY(quarantine(id, manifest.error().message));
    }
  }
  return {};
}

base::Status Spool::recover_counts(std::vector<std::string>& lines, Time now) {
  // One pass over the directories and one write: there may be very many captures.
  std::map<std::string, OpenState> found;
  for (const auto& [place, state] : {std::pair(Place::kIncoming, OpenState::kRecording),
                                     std::pair(Place::kSealed, OpenState::kSealed),
                                     std::pair(Place::kQuarantine, OpenState::kQuarantined)}) {
    for (const std::string& id : names_in(path(place, ""))) {
      if (capture::is_capture_id(id) && is_directory(path(place, id))) {
        found[id] = state;
      }
    }
  }
  const std::int64_t time =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return ledger_.update([&](LedgerContent& content) {
    for (const auto& [id, state] : found) {
      content.adopt(id, state, time);
      content.open[id].state = state;
    }
    const auto open = content.open;
    for (const auto& [id, capture] : open) {
      if (found.contains(id) || FileLock::is_held(capture_lock(id))) {
        continue;
      }
      if (is_directory(path(Place::kDone, id))) { // delivered just before the end
        content.end(id, Ending::kDelivered);
      } else if (capture.state == OpenState::kRecording) { // accepted just before the end
        content.end(id, Ending::kFailed);
      } else {
        lines.push_back("capture " + id + " is gone: its files were removed from the spool");
        content.end(id, Ending::kAbandoned);
      }
    }
    return true;
  });
}

void Spool::remove_free_locks() const {
  for (const std::string& name : names_in(settings_.directory + "/locks")) {
    const std::string path = lock_path(name);
    if (const auto lock = FileLock::try_take(path, {}); lock && *lock) {
      ::unlink(path.c_str());
    }
  }
}

base::Result<std::vector<std::string>> Spool::recover(Time now) {
  std::vector<std::string> lines;
  JPROF_TRY(recover_ledger(lines));
  JPROF_TRY(empty_trash());
  remove_free_locks();
  JPROF_TRY(recover_counts(lines, now));
  const auto salvaged = salvage_left("the sidecar ended during the capture");
  lines.insert(lines.end(), salvaged.begin(), salvaged.end());
  JPROF_TRY(recover_sealed(lines));
  return lines;
}

base::Result<std::vector<std::string>> Spool::enforce(std::uint64_t wanted, const Moment& now) {
  std::vector<std::string> lines;
  std::uint64_t used = used_bytes(wanted);
  const std::uint64_t promised = used - used_bytes();
  const auto too_much = [&] {
    return used + wanted > settings_.quota ||
           (wanted > 0 && free_bytes(settings_.directory) < promised + wanted);
  };
  for (const Entry& entry : list(Place::kDone)) {
    // By the wall clock: they are safe elsewhere.
    if (now.wall - entry.changed > settings_.keep_delivered || too_much()) {
      JPROF_TRY(drop(entry, Ending::kDelivered));
      used -= entry.bytes;
    }
  }
  LedgerContent books;
  JPROF_TRY(ledger_.update([&](LedgerContent& content) {
    const bool changed = content.grow_older(now.uptime);
    books = content;
    return changed;
  }));
  for (const Place place : {Place::kSealed, Place::kQuarantine}) {
    for (const Entry& entry : list(place)) {
      if (std::chrono::seconds(books.age_of(entry.id, now.uptime)) > settings_.keep) {
        JPROF_TRY(drop(entry, Ending::kExpired));
        lines.push_back("capture " + entry.id +
                        " is removed from the spool: it is older than spool.keep");
      }
    }
  }
  static_cast<void>(make_reserve(settings_.directory));
  return lines;
}

} // namespace jprof::spool
