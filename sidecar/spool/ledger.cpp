// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/ledger.h"

#include "lib/base/file.h"
#include "lib/base/unique_fd.h"
#include "sidecar/spool/spool_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <utility>

namespace jprof::spool {
namespace {

using base::Json;

constexpr std::size_t kMaxBytes = 64 * 1024 * 1024;
constexpr std::int64_t kHour = 3600;
constexpr std::array<std::string_view, 3> kStates{"recording", "sealed", "quarantined"};

std::int64_t unix_seconds(Ledger::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// One in the future was accepted before the clock was set back: nobody knows when.
bool within_hour(std::int64_t at, std::int64_t now) {
  return at > now - kHour && at <= now;
}

struct Counter {
  const char* key;
  std::uint64_t LedgerContent::*member;
};
constexpr std::array<Counter, 5> kCounters{{{"accepted", &LedgerContent::accepted},
                                            {"delivered", &LedgerContent::delivered},
                                            {"expired", &LedgerContent::expired},
                                            {"failed", &LedgerContent::failed},
                                            {"abandoned", &LedgerContent::abandoned}}};

std::string encode(const LedgerContent& content) {
  Json json = {{"apiVersion", "jprof.dev/v1alpha1"}, {"kind", "SpoolLedger"}};
  for (const Counter& counter : kCounters) {
    json[counter.key] = content.*counter.member;
  }
  Json& open = json["open"] = Json::array();
  for (const auto& [id, capture] : content.open) {
    open.push_back({id, kStates[static_cast<std::size_t>(capture.state)], capture.accepted_at});
  }
  json["recent"] = content.recent;
  Json& ages = json["ages"] = Json::object();
  for (const auto& [id, capture] : content.open) {
    if (capture.age) {
      ages[id] = *capture.age;
    }
  }
  json["agedAt"] = {{"boot", content.aged_at.boot}, {"uptimeSeconds", content.aged_at.seconds}};
  return base::dump_json(json) + "\n";
}

bool parse_open(const Json& item, LedgerContent& content) {
  if (!item.is_array() || item.size() != 3 || !item[0].is_string() || !item[1].is_string() ||
      !item[2].is_number_integer()) {
    return false;
  }
  const auto state = std::find(kStates.begin(), kStates.end(), item[1].get<std::string>());
  if (state == kStates.end()) {
    return false;
  }
  content.open[item[0].get<std::string>()] = {
      static_cast<OpenState>(state - kStates.begin()), item[2].get<std::int64_t>(), {}};
  return true;
}

// Absent in ledgers of the first release: ages begin when they are first read.
void parse_ages(const Json& json, LedgerContent& content) {
  const Json& ages = base::json_object(json, "ages");
  for (auto& [id, capture] : content.open) {
    if (ages.contains(id)) {
      capture.age = std::max<std::int64_t>(0, base::json_int(ages, id));
    }
  }
  const Json& aged_at = base::json_object(json, "agedAt");
  content.aged_at = {base::json_string(aged_at, "boot"), base::json_int(aged_at, "uptimeSeconds")};
}

base::Result<LedgerContent> parse(std::string_view text) {
  const auto json = base::parse_json(text, {.bytes = kMaxBytes, .depth = 8});
  bool whole = json && base::json_string(*json, "kind") == "SpoolLedger";
  LedgerContent content;
  if (whole) {
    for (const Counter& counter : kCounters) {
      content.*counter.member =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::json_int(*json, counter.key)));
    }
    for (const Json& item : base::json_array(*json, "open")) {
      whole = whole && parse_open(item, content);
    }
    parse_ages(*json, content);
    for (const Json& item : base::json_array(*json, "recent")) {
      if (item.is_number_integer()) {
        content.recent.push_back(item.get<std::int64_t>());
      }
    }
  }
  if (!whole || !content.balanced()) {
    return base::make_failure(base::ErrorCode::kInvalidData, "the spool's ledger is damaged");
  }
  return content;
}

} // namespace

base::Status LedgerContent::check_hour(Ledger::Time now, std::uint64_t per_hour) const {
  const std::int64_t time = unix_seconds(now);
  std::uint64_t made = 0;
  std::int64_t oldest = time;
  for (const std::int64_t at : recent) {
    if (within_hour(at, time)) {
      ++made;
      oldest = std::min(oldest, at);
    }
  }
  if (made < per_hour) {
    return {};
  }
  return base::make_failure(
      base::ErrorCode::kLimit,
      std::to_string(made) + " captures were made within the last hour, the limit is " +
          std::to_string(per_hour),
      "try again in " + std::to_string(std::max<std::int64_t>(1, oldest + kHour - time)) +
          " s, or raise limits.capturesPerHour of the sidecar");
}

std::uint64_t LedgerContent::count_open(OpenState state) const {
  return static_cast<std::uint64_t>(std::count_if(
      open.begin(), open.end(), [state](const auto& row) { return row.second.state == state; }));
}

bool LedgerContent::balanced() const {
  return accepted == delivered + expired + failed + abandoned + open.size();
}

bool LedgerContent::end(const std::string& id, Ending ending) {
  if (open.erase(id) == 0) {
    return false;
  }
  switch (ending) {
  case Ending::kDelivered:
    ++delivered;
    break;
  case Ending::kExpired:
    ++expired;
    break;
  case Ending::kFailed:
    ++failed;
    break;
  case Ending::kAbandoned:
    ++abandoned;
    break;
  }
  return true;
}

std::int64_t LedgerContent::age_of(const std::string& id, const Uptime& now) const {
  const auto found = open.find(id);
  return found == open.end() || !found->second.age ? 0 : *found->second.age + now.since(aged_at);
}

bool LedgerContent::grow_older(const Uptime& now) {
  constexpr std::int64_t kWorthAWrite = 60;
  const bool anew = std::any_of(open.begin(), open.end(),
                                [](const auto& row) { return !row.second.age.has_value(); });
  if (open.empty() || (!anew && now.boot == aged_at.boot && now.since(aged_at) < kWorthAWrite &&
                       now.seconds >= aged_at.seconds)) {
    return false;
  }
  for (auto& [id, capture] : open) {
    capture.age = age_of(id, now);
  }
  aged_at = now;
  return true;
}

void LedgerContent::adopt(const std::string& id, OpenState state, std::int64_t unix_seconds) {
  if (open.try_emplace(id, OpenCapture{state, unix_seconds, {}}).second) {
    ++accepted;
  }
}

base::Result<LedgerContent> Ledger::read() const {
  const auto text = base::read_file(path(), kMaxBytes);
  if (!text) {
    if (text.error().code == base::ErrorCode::kNotFound) {
      return LedgerContent();
    }
    return base::fail(text.error());
  }
  return parse(*text);
}

template <typename Change>
base::Status Ledger::change(const Change& apply) {
  const std::string lock_path = directory_ + "/ledger.lock";
  // Opened anew each time: processes forked from one another share the lock of a shared descriptor.
  const base::UniqueFd lock(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) {
    return base::errno_failure(errno, "cannot open " + lock_path);
  }
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return base::errno_failure(errno, "cannot lock " + lock_path);
    }
  }
  JPROF_TRY_ASSIGN(LedgerContent content, read());
  JPROF_TRY_ASSIGN(const bool changed, apply(content));
  if (!changed) {
    return {};
  }
  const std::string text = encode(content);
  base::Status written = base::write_file_atomically(path(), text, 0600);
  if (!written && (written.error().os_errno == ENOSPC || written.error().os_errno == EDQUOT)) {
    // What has happened must be known, or nothing that makes room could be told.
    give_back_reserve(directory_);
    written = base::write_file_atomically(path(), text, 0600);
  }
  return written;
}

base::Status Ledger::accept(const std::string& id, Time now, std::uint64_t per_hour,
                            const RoomCheck& room) {
  const std::int64_t time = unix_seconds(now);
  return change([&](LedgerContent& content) -> base::Result<bool> {
    std::erase_if(content.recent, [time](std::int64_t at) { return !within_hour(at, time); });
    if (content.open.contains(id)) {
      return false;
    }
    JPROF_TRY(content.check_hour(now, per_hour));
    if (room) {
      JPROF_TRY(room(content));
    }
    ++content.accepted;
    content.open[id] = {OpenState::kRecording, time, {}};
    content.recent.push_back(time);
    return true;
  });
}

base::Status Ledger::set_state(const std::string& id, OpenState state) {
  return change([&](LedgerContent& content) -> base::Result<bool> {
    const auto found = content.open.find(id);
    if (found == content.open.end() || found->second.state == state) {
      return false;
    }
    found->second.state = state;
    return true;
  });
}

base::Status Ledger::close(const std::string& id, Ending ending) {
  return change(
      [&](LedgerContent& content) -> base::Result<bool> { return content.end(id, ending); });
}

base::Status Ledger::update(const std::function<bool(LedgerContent&)>& apply) {
  return change([&](LedgerContent& content) -> base::Result<bool> { return apply(content); });
}

base::Status Ledger::replace_damaged() {
  if (::rename(path().c_str(), (directory_ + "/ledger.damaged").c_str()) != 0) {
    return base::errno_failure(errno, "cannot set aside " + path());
  }
  return base::sync_directory(directory_);
}

} // namespace jprof::spool
