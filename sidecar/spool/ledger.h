// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"
#include "sidecar/spool/moment.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace jprof::spool {

// Every capture ever accepted, each exactly once:
//   accepted = open + delivered + expired + failed + abandoned
// where open ones are recording, sealed (pending) or quarantined. One JSON file, replaced
// atomically under a lock of its own, so the sums agree after any crash. Any process may use it.
enum class Ending {
  kDelivered, // a store or its caller confirmed it
  kExpired,   // a written limit on age or bytes
  kFailed,    // ended before it was sealed
  kAbandoned, // its files vanished from the spool
};

enum class OpenState { kRecording, kSealed, kQuarantined };

struct OpenCapture {
  OpenState state = OpenState::kRecording;
  std::int64_t accepted_at = 0;    // Unix seconds
  std::optional<std::int64_t> age; // seconds since somebody first looked at ages, at `aged_at`
};

struct LedgerContent {
  std::uint64_t accepted = 0;
  std::uint64_t delivered = 0;
  std::uint64_t expired = 0;
  std::uint64_t failed = 0;
  std::uint64_t abandoned = 0;
  std::map<std::string, OpenCapture> open;
  Uptime aged_at;
  std::vector<std::int64_t> recent; // when captures were accepted, of the last hour

  // kLimit, and when to come back, if `per_hour` captures or more were accepted within the last
  // hour.
  base::Status check_hour(std::chrono::system_clock::time_point now, std::uint64_t per_hour) const;
  std::uint64_t count_open(OpenState state) const;
  bool balanced() const;
  // Ends an open capture; false for an id that is not open.
  bool end(const std::string& id, Ending ending);
  // An open capture's age by the machine's own clock, in seconds.
  std::int64_t age_of(const std::string& id, const Uptime& now) const;
  // Records the ages; false if nothing worth writing has changed.
  bool grow_older(const Uptime& now);
  // A capture that is there but not in the ledger (lost or damaged).
  void adopt(const std::string& id, OpenState state, std::int64_t unix_seconds);
};

class Ledger {
 public:
  explicit Ledger(std::string directory) : directory_(std::move(directory)) {}

  using Time = std::chrono::system_clock::time_point;

  // kLimit if `per_hour` were accepted in the hour before `now`, or what `room` says, which is
  // asked while nobody else can be accepted; nothing for an id that is open.
  using RoomCheck = std::function<base::Status(const LedgerContent&)>;
  base::Status accept(const std::string& id, Time now, std::uint64_t per_hour,
                      const RoomCheck& room = nullptr);
  // Nothing for an id that is not open.
  base::Status set_state(const std::string& id, OpenState state);
  base::Status close(const std::string& id, Ending ending);
  // Any change at once, written if `change` says so: what recovery finds out about all captures.
  base::Status update(const std::function<bool(LedgerContent&)>& change);
  // An absent file is an empty ledger; a damaged one is kInvalidData.
  base::Result<LedgerContent> read() const;
  // Sets a damaged file aside as ledger.damaged and starts again.
  base::Status replace_damaged();

 private:
  template <typename Change>
  base::Status change(const Change& apply);
  std::string path() const { return directory_ + "/ledger.json"; }

  std::string directory_;
};

} // namespace jprof::spool
