// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/spool/spool.h"

#include "lib/base/file.h"
#include "lib/base/mebibytes.h"
#include "lib/capture/bundle.h"
#include "lib/capture/capture_id.h"
#include "lib/config/byte_size.h"
#include "sidecar/spool/spool_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>

namespace jprof::spool {
namespace {

constexpr std::array<std::string_view, 5> kWords{"", "incoming", "sealed", "done", "quarantine"};
constexpr std::array<Place, 4> kPlaces{Place::kIncoming, Place::kSealed, Place::kDone,
                                       Place::kQuarantine};

} // namespace

std::string_view place_word(Place place) {
  return kWords[static_cast<std::size_t>(place)];
}

std::string Spool::path(Place place, const std::string& id) const {
  return settings_.directory + "/" + std::string(place_word(place)) + (id.empty() ? "" : "/" + id);
}

std::string Spool::lock_path(const std::string& name) const {
  return settings_.directory + "/locks/" + name;
}

base::Status Spool::make_places() const {
  for (const Place place : kPlaces) {
    JPROF_TRY(base::make_directories(path(place, ""), 0700));
  }
  JPROF_TRY(base::make_directories(settings_.directory + "/locks", 0700));
  return base::make_directories(settings_.directory + "/trash", 0700);
}

base::Result<Spool> Spool::own(const config::SpoolSettings& settings) {
  Spool spool(settings);
  if (base::Status made = spool.make_places(); !made) {
    return base::fail(std::move(made.error())
                          .with_context("spool")
                          .with_cure("mount a writable emptyDir at /var/lib/jprof, or name another "
                                     "directory in the configuration (spool.directory)"));
  }
  const std::string path = settings.directory + "/lock";
  spool.lock_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!spool.lock_) {
    return base::errno_failure(errno, "cannot open " + path);
  }
  if (::flock(spool.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::make_failure(base::ErrorCode::kBusy,
                              "another 'jprof serve' owns the spool " + settings.directory,
                              "give each its own spool.directory");
  }
  // Fails only on a full disk, where there is nothing to reserve.
  static_cast<void>(make_reserve(settings.directory));
  return spool;
}

base::Result<Spool> Spool::look(const config::SpoolSettings& settings) {
  if (!is_directory(settings.directory)) {
    return base::make_failure(base::ErrorCode::kNotFound,
                              "there is no spool at " + settings.directory,
                              "'jprof serve' makes it; give its directory with --directory");
  }
  return Spool(settings);
}

base::Status Spool::move(const std::string& id, Place from, Place to) const {
  const std::string source = path(from, id);
  const std::string target = path(to, id);
  if (::rename(source.c_str(), target.c_str()) != 0) {
    return base::errno_failure(errno, "cannot move " + source + " to " + target);
  }
  JPROF_TRY(base::sync_directory(path(to, "")));
  return base::sync_directory(path(from, ""));
}

// A capture that is being recorded may still take what was promised to it when it was accepted.
base::Status Spool::check_room(std::uint64_t capture_bytes, const LedgerContent& books,
                               std::uint64_t droppable) const {
  std::uint64_t used = used_bytes(capture_bytes);
  std::uint64_t promised = used - used_bytes();
  used -= std::min(used, droppable);
  for (const auto& [id, capture] : books.open) {
    if (capture.state == OpenState::kRecording && !is_directory(path(Place::kIncoming, id))) {
      used += capture_bytes; // accepted this moment
      promised += capture_bytes;
    }
  }
  if (used + capture_bytes > settings_.quota) {
    return base::make_failure(base::ErrorCode::kLimit,
                              "the spool is full: " + base::mebibytes(used) +
                                  " are used or promised, a capture may take " +
                                  config::format_byte_size(capture_bytes) + ", the quota is " +
                                  config::format_byte_size(settings_.quota),
                              "fetch the captures that wait (kubectl jprof fetch), repair the "
                              "store, or raise spool.quota (of a volume in memory: the "
                              "container's memory limit)");
  }
  const std::uint64_t free = free_bytes(settings_.directory);
  if (free < promised + capture_bytes && droppable < promised + capture_bytes - free) {
    return base::make_failure(base::ErrorCode::kLimit,
                              "the disk under the spool " + settings_.directory + " is full",
                              "make room on the node, or mount another volume for the spool");
  }
  return {};
}

base::Status Spool::foretell(const Demand& demand, Time now) const {
  JPROF_TRY_ASSIGN(const LedgerContent books, counts());
  JPROF_TRY(books.check_hour(now, demand.captures_per_hour));
  std::uint64_t droppable = 0; // as enforce() does before each capture
  for (const Entry& entry : list(Place::kDone)) {
    droppable += entry.bytes;
  }
  return check_room(demand.bytes, books, droppable);
}

base::Result<std::string> Spool::accept(const capture::Manifest& draft, const Demand& demand,
                                        Time now) {
  const std::string& id = draft.id;
  if (!capture::is_capture_id(id)) {
    return base::make_failure(base::ErrorCode::kUsage, "not a capture id: '" + id + "'",
                              "use a ULID or 64 lower-case hexadecimal digits");
  }
  JPROF_TRY(make_places()); // somebody may have emptied the volume
  if (find(id).place != Place::kNone) {
    return base::make_failure(base::ErrorCode::kAlreadyExists, "capture " + id + " exists already");
  }
  JPROF_TRY(ledger_.accept(id, now, demand.captures_per_hour, [&](const LedgerContent& books) {
    return check_room(demand.bytes, books);
  }));
  const std::string directory = path(Place::kIncoming, id);
  base::Status made = base::make_directories(directory, 0700);
  if (made) {
    made = base::write_file_atomically(directory + "/" + kDraftFile,
                                       base::dump_json(capture::manifest_json(draft)), 0600);
  }
  if (made) {
    made = base::sync_directory(path(Place::kIncoming, ""));
  }
  if (!made) {
    static_cast<void>(fail(id));
    return base::fail(std::move(made).error());
  }
  return directory;
}

base::Status Spool::commit(const std::string& id, const capture::Manifest& manifest) const {
  const std::string directory = path(Place::kIncoming, id);
  base::Status status = capture::commit_bundle(directory, manifest);
  if (status) {
    return status;
  }
  if (status.error().os_errno == ENOSPC || status.error().os_errno == EDQUOT) {
    give_back_reserve(settings_.directory);
  } else {
    std::vector<std::string> names;
    for (const capture::BundleFile& file : manifest.files) {
      names.push_back(file.name);
    }
    JPROF_TRY(rewrite_files(directory, names));
  }
  return capture::commit_bundle(directory, manifest);
}

base::Status Spool::seal(const std::string& id, const capture::Manifest& manifest) {
  JPROF_TRY(commit(id, manifest));
  ::unlink((path(Place::kIncoming, id) + "/" + kDraftFile).c_str());
  JPROF_TRY(move(id, Place::kIncoming, Place::kSealed));
  return ledger_.set_state(id, OpenState::kSealed);
}

base::Status Spool::drop(const Entry& entry, Ending ending) {
  constexpr std::array<std::string_view, 4> kEndings{"delivered", "expired", "failed", "abandoned"};
  const std::string trash = settings_.directory + "/trash/" +
                            std::string(kEndings[static_cast<std::size_t>(ending)]) + "." +
                            entry.id;
  remove_tree(trash);
  if (::rename(entry.directory.c_str(), trash.c_str()) != 0) {
    if (errno != ENOENT) {
      return base::errno_failure(errno, "cannot remove " + entry.directory);
    }
    // An accepted one may have no directory yet; one that was moved in the meantime has not ended.
    if (const Entry now = find(entry.id); now.place != Place::kNone) {
      return base::make_failure(base::ErrorCode::kNotFound,
                                "capture " + entry.id + " is no longer in " + entry.directory +
                                    " but in " + now.directory);
    }
  }
  // Room first: on a full disk the ledger cannot be written either. The ledger records it before
  // the directory is gone, whose name is all that a recovery needs after a crash in between.
  empty_tree(trash);
  JPROF_TRY(ledger_.close(entry.id, ending));
  remove_tree(trash);
  return {};
}

base::Status Spool::fail(const std::string& id) {
  return drop({id, Place::kIncoming, path(Place::kIncoming, id), 0, {}}, Ending::kFailed);
}

base::Status Spool::deliver(const std::string& id) {
  JPROF_TRY(move(id, Place::kSealed, Place::kDone));
  return ledger_.close(id, Ending::kDelivered);
}

base::Status Spool::quarantine(const std::string& id, const std::string& why) {
  const Entry entry = find(id);
  if (entry.place != Place::kSealed && entry.place != Place::kIncoming) {
    return base::make_failure(base::ErrorCode::kNotFound, "no capture " + id + " to quarantine");
  }
  JPROF_TRY(move(id, entry.place, Place::kQuarantine));
  JPROF_TRY(ledger_.set_state(id, OpenState::kQuarantined));
  // Only for people: if it cannot be written on a full disk, nothing changes.
  static_cast<void>(
      base::write_file_atomically(path(Place::kQuarantine, id) + "/why.txt", why + "\n", 0600));
  return {};
}

Entry Spool::find(const std::string& id) const {
  Entry entry;
  entry.id = id;
  if (!capture::is_capture_id(id)) {
    return entry;
  }
  for (const Place place : kPlaces) {
    const std::string directory = path(place, id);
    if (is_directory(directory)) {
      entry = {id, place, directory, bytes_in(directory), changed_at(directory)};
    }
  }
  return entry;
}

std::vector<Entry> Spool::list(Place place) const {
  std::vector<Entry> entries;
  for (const std::string& id : names_in(path(place, ""))) {
    const std::string directory = path(place, id);
    if (capture::is_capture_id(id) && is_directory(directory)) {
      entries.push_back({id, place, directory, bytes_in(directory), changed_at(directory)});
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.changed < b.changed; });
  return entries;
}

std::vector<Entry> Spool::list() const {
  std::vector<Entry> all;
  for (const Place place : kPlaces) {
    std::vector<Entry> some = list(place);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::uint64_t Spool::used_bytes(std::uint64_t recording) const {
  std::uint64_t sum = 0;
  for (const Place place : kPlaces) {
    for (const std::string& id : names_in(path(place, ""))) {
      const std::uint64_t bytes = bytes_in(path(place, id));
      sum += place == Place::kIncoming ? std::max(bytes, recording) : bytes;
    }
  }
  return sum;
}

} // namespace jprof::spool
