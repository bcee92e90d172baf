// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/capture/manifest.h"
#include "lib/config/sidecar_config.h"
#include "sidecar/spool/ledger.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace jprof::spool {

enum class Place { kNone, kIncoming, kSealed, kDone, kQuarantine };
std::string_view place_word(Place place);

struct Entry {
  std::string id;
  Place place = Place::kNone;
  std::string directory;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point changed; // when it came to its place
};

// What a capture is allowed to use.
struct Demand {
  std::uint64_t bytes = 0;
  std::uint64_t captures_per_hour = 0;
};

// Where captures wait, on disk: incoming -> sealed -> done | quarantine, each move one rename that
// is synced, so that a capture is always in exactly one place (docs/design/spool.md). From `seal`
// on it survives a kill of any process. Functions touch only the directory, so processes forked
// from the owner may call them too, even after it has ended: each capture has a lock of its own.
class Spool {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Creates the directories and takes the spool's lock: kBusy if another serve has it.
  static base::Result<Spool> own(const config::SpoolSettings& settings);
  // Without a lock, for reading (`jprof spool`).
  static base::Result<Spool> look(const config::SpoolSettings& settings);

  const std::string& directory() const { return settings_.directory; }
  std::string path(Place place, const std::string& id) const;
  // A lock file's path; the process that takes the lock creates it.
  std::string lock_path(const std::string& name) const;
  // The lock (file_lock.h) that the process of a capture holds from before it is accepted until it
  // has ended, however it ends.
  std::string capture_lock(const std::string& id) const { return lock_path("capture-" + id); }
  // For a process forked from the owner: the owner's lock ends with the owner.
  void leave_to_owner() { lock_.reset(); }

  // A new capture that may take `capture_bytes`: its directory in incoming, which holds `draft`,
  // the manifest as far as the request determines it. kAlreadyExists for a known id, kLimit when
  // the quota, the disk or the captures of this hour are used up.
  base::Result<std::string> accept(const capture::Manifest& draft, const Demand& demand, Time now);
  // What accept() would answer now for a new capture, without changing anything.
  base::Status foretell(const Demand& demand, Time now) const;
  // Commits an accepted capture. Once it has returned without error, only a configured limit, a
  // confirmed delivery or the loss of the disk can remove it.
  base::Status seal(const std::string& id, const capture::Manifest& manifest);
  // Ends an accepted capture that has nothing worth keeping.
  base::Status fail(const std::string& id);
  // What a dead recorder left in incoming: sealed as partial for `reason` if there is a recording,
  // otherwise failed (kTargetGone). A capture that was already committed is only moved. kBusy if it
  // was not left behind: its recorder lives, or has just sealed it.
  base::Result<capture::Manifest> salvage(const std::string& id, const std::string& reason);
  // Sealed and confirmed elsewhere.
  base::Status deliver(const std::string& id);
  // Kept, but never delivered: `why` is written next to it.
  base::Status quarantine(const std::string& id, const std::string& why);

  // Where an id is; kNone for an invalid id.
  Entry find(const std::string& id) const;
  std::vector<Entry> list() const;
  std::vector<Entry> list(Place place) const; // oldest first
  // Of all captures; one that is being recorded counts as `recording` bytes if it has fewer.
  std::uint64_t used_bytes(std::uint64_t recording = 0) const;
  base::Result<LedgerContent> counts() const { return ledger_.read(); }

  // After a start: finishes what was interrupted, makes ledger and directories agree. Captures of
  // an earlier owner that are still running are left alone. Returns lines for the log, one for each
  // thing that was not as it should be.
  base::Result<std::vector<std::string>> recover(Time now);
  // Salvages everything in incoming whose process has ended, for `reason`; returns lines as above.
  std::vector<std::string> salvage_left(const std::string& reason);
  // Drops delivered captures that are old, or all of them while more than quota minus `wanted` is
  // used or the disk has too little space, and anything older than captures are kept. What was sent
  // but not confirmed is not delivered: it stays. Returns one line for the log for each undelivered
  // capture dropped.
  base::Result<std::vector<std::string>> enforce(std::uint64_t wanted, const Moment& now);

 private:
  explicit Spool(const config::SpoolSettings& settings)
      : settings_(settings), ledger_(settings.directory) {}
  base::Status make_places() const;
  base::Status move(const std::string& id, Place from, Place to) const;
  base::Status commit(const std::string& id, const capture::Manifest& manifest) const;
  base::Status drop(const Entry& entry, Ending ending);
  // `droppable`: bytes that would make room if they were wanted.
  base::Status check_room(std::uint64_t capture_bytes, const LedgerContent& books,
                          std::uint64_t droppable = 0) const;
  base::Status recover_ledger(std::vector<std::string>& lines);
  base::Result<capture::Manifest> salvage_locked(const std::string& id, const std::string& reason);
  void remove_free_locks() const;
  base::Status recover_sealed(std::vector<std::string>& lines);
  base::Status recover_counts(std::vector<std::string>& lines, Time now);
  base::Status empty_trash();

  config::SpoolSettings settings_;
  Ledger ledger_;
  base::UniqueFd lock_;
};

} // namespace jprof::spool
