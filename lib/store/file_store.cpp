// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/file_store.h"

#include "lib/base/directory.h"
#include "lib/base/file.h"
#include "lib/base/random.h"
#include "lib/base/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::store {

using base::ErrorCode;
using base::UniqueFd;

namespace {

constexpr mode_t kDirectoryMode = 0750;
constexpr mode_t kFileMode = 0640;
constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
// Not a key's segment because of '~': what a crash leaves is never taken for an object.
constexpr std::string_view kTemporaryPrefix = "~jprof-";

enum class Missing { kCreate, kFail };

Status sync_fd(int fd, const std::string& name) {
  // EINVAL: the file system cannot sync directories and has no other way.
  if (::fsync(fd) != 0 && errno != EINVAL) {
    return base::errno_failure(errno, "cannot sync " + name);
  }
  return {};
}

// Opens `name` below `parent` as a directory. A directory that is made is synced into its parent
// before anything is put into it.
Result<UniqueFd> open_below(int parent, const std::string& name, Missing missing,
                            const std::string& shown) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(parent, name.c_str(), kFlags));
  if (!fd && errno == ENOENT && missing == Missing::kCreate) {
    if (::mkdirat(parent, name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return base::errno_failure(errno, "cannot create directory " + shown);
    }
    JPROF_TRY(sync_fd(parent, shown));
    fd.reset(::openat(parent, name.c_str(), kFlags));
  }
  if (!fd && (errno == ELOOP || errno == ENOTDIR)) {
    return base::make_failure(ErrorCode::kIo, shown + " is a link, or not a directory");
  }
  if (!fd) {
    return base::errno_failure(errno, "cannot open directory " + shown);
  }
  return fd;
}

struct Place {
  UniqueFd directory;
  std::string name;
};

struct Listed {
  std::string name;
  bool is_directory;
  std::uint64_t size_bytes;
};

Result<std::vector<Listed>> entries_of(int directory, const std::string& shown) {
  const auto names = base::names_in(directory);
  if (!names) {
    return base::errno_failure(names.error().os_errno, "cannot list " + shown);
  }
  std::vector<Listed> out;
  for (const std::string& name : *names) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue; // went away while we were looking
    }
    if (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) {
      out.push_back({name, S_ISDIR(info.st_mode), static_cast<std::uint64_t>(info.st_size)});
    }
  }
  // As keys sort: a directory counts with its '/', so that "a.x" comes before "a/y".
  std::sort(out.begin(), out.end(), [](const Listed& a, const Listed& b) {
    return (a.is_directory ? a.name + "/" : a.name) < (b.is_directory ? b.name + "/" : b.name);
  });
  return out;
}

class FileStore final : public ObjectStore {
 public:
  explicit FileStore(std::string directory) : root_(std::move(directory)) {}

  Status check() override;
  Result<PutReceipt> put(const ObjectKey& key, const Content& content,
                         const PutOptions& options) override;
  Result<ObjectInfo> info(const ObjectKey& key) override;
  Status get(const ObjectKey& key, const std::function<Status(std::string_view)>& sink) override;
  Status list(const std::string& prefix,
              const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) override;
  std::string describe() const override { return "file://" + root_; }

 private:
  std::string shown(const ObjectKey& key) const { return root_ + "/" + key.text(); }
  Result<UniqueFd> open_root(Missing missing) const;
  Result<Place> find(const ObjectKey& key, Missing missing) const;
  Result<UniqueFd> open_object(const ObjectKey& key) const;
  Result<PutReceipt> compare(const ObjectKey& key, const Content& content);
  Status list_below(UniqueFd directory, const std::string& at, const std::string& prefix,
                    const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) const;

  std::string root_;
};

// Nothing has been created yet: if the root does not exist, the nearest directory above it is
// checked.
Status FileStore::check() {
  std::string at = root_;
  struct stat info {};
  while (::stat(at.c_str(), &info) != 0) {
    const auto slash = at.rfind('/');
    if (errno != ENOENT || slash == std::string::npos || at == "/") {
      return base::errno_failure(errno, "cannot store in " + root_);
    }
    at = slash == 0 ? "/" : at.substr(0, slash);
  }
  if (!S_ISDIR(info.st_mode)) {
    return base::make_failure(ErrorCode::kUsage,
                              "cannot store in " + root_ + ": " + at + " is not a directory",
                              "name a directory: file:///dir");
  }
  if (::access(at.c_str(), W_OK | X_OK) != 0) {
    return base::errno_failure(errno, "cannot store in " + root_ + ": " + at);
  }
  return {};
}

// The root itself may be a link: it is the user's own choice.
Result<UniqueFd> FileStore::open_root(Missing missing) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  UniqueFd fd(::open(root_.c_str(), kFlags));
  if (!fd && errno == ENOENT && missing == Missing::kCreate) {
    JPROF_TRY(base::make_directories(root_, kDirectoryMode));
    const auto slash = root_.rfind('/');
    JPROF_TRY(base::sync_directory(slash == 0 ? "/" : root_.substr(0, slash)));
    fd.reset(::open(root_.c_str(), kFlags));
  }
  if (!fd) {
    return base::errno_failure(errno, "cannot open directory " + root_);
  }
  return fd;
}

Result<Place> FileStore::find(const ObjectKey& key, Missing missing) const {
  JPROF_TRY_ASSIGN(UniqueFd directory, open_root(missing));
  std::string_view rest = key.text();
  for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    JPROF_TRY_ASSIGN(directory, open_below(directory.get(), std::string(rest.substr(0, slash)),
                                           missing, shown(key)));
    rest.remove_prefix(slash + 1);
  }
  return Place{std::move(directory), std::string(rest)};
}

Status copy_checked(const Content& content, int fd, const std::string& name) {
  base::Sha256Stream digest;
  std::vector<char> buffer(kBufferBytes);
  std::uint64_t offset = 0;
  while (offset < content.body.size_bytes()) {
    JPROF_TRY_ASSIGN(const std::size_t got,
                     content.body.read(offset, std::as_writable_bytes(std::span(buffer))));
    if (got == 0) {
      return base::make_failure(ErrorCode::kIo, "the bytes for " + name + " end too early");
    }
    digest.update({buffer.data(), got});
    JPROF_TRY(base::write_all(fd, {buffer.data(), got}, name));
    offset += got;
  }
  if (digest.finish() != content.sha256) {
    return base::make_failure(ErrorCode::kInvalidData,
                              "the bytes for " + name + " changed since they were sealed");
  }
  return sync_fd(fd, name);
}

// Gives `from` its final name. Where the file system has no hard links (FAT, some network mounts)
// the name is claimed with an empty file first, which the object then replaces.
int publish(int directory, const std::string& from, const std::string& to) {
  if (::linkat(directory, from.c_str(), directory, to.c_str(), 0) == 0) {
    return ::unlinkat(directory, from.c_str(), 0) == 0 ? 0 : errno;
  }
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) {
    return errno;
  }
  constexpr int kClaim = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd claim(::openat(directory, to.c_str(), kClaim, kFileMode));
  if (!claim) {
    return errno;
  }
  return ::renameat(directory, from.c_str(), directory, to.c_str()) == 0 ? 0 : errno;
}

// What is written aside, locked while its writer lives (flock(2)): so it can be told from what a
// killed one left.
struct Aside {
  UniqueFd fd;
  std::string name;
};

Result<Aside> make_aside(int directory, const std::string& for_what) {
  constexpr int kAttempts = 10; // somebody who clears away may take a new file for an old one
  for (int i = 0; i < kAttempts; ++i) {
    JPROF_TRY_ASSIGN(const std::string suffix, base::random_base32(12));
    Aside aside{{}, std::string(kTemporaryPrefix) + suffix};
    aside.fd.reset(::openat(directory, aside.name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (!aside.fd) {
      return base::errno_failure(errno, "cannot create a file for " + for_what);
    }
    struct stat info {};
    const bool taken = ::flock(aside.fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && ::fstat(aside.fd.get(), &info) == 0 && info.st_nlink > 0) {
      return aside;
    }
  }
  return base::make_failure(ErrorCode::kIo, "files for " + for_what + " are removed at once");
}

// A writer that was killed has left its file aside. The next writer beside it, which is the retry
// of the same capture, removes it; if there are no locks, it stays.
void remove_abandoned(int directory) {
  const auto names = entries_of(directory, "a directory");
  if (!names) {
    return; // the write will say why
  }
  for (const Listed& entry : *names) {
    if (entry.is_directory || !entry.name.starts_with(kTemporaryPrefix)) {
      continue;
    }
    const UniqueFd fd(
        ::openat(directory, entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      ::unlinkat(directory, entry.name.c_str(), 0);
    }
  }
}

Result<PutReceipt> FileStore::put(const ObjectKey& key, const Content& content,
                                  const PutOptions& /*options*/) {
  JPROF_TRY_ASSIGN(const Place place, find(key, Missing::kCreate));
  const int directory = place.directory.get();
  remove_abandoned(directory);
  JPROF_TRY_ASSIGN(const Aside aside, make_aside(directory, shown(key)));
  Status status = copy_checked(content, aside.fd.get(), shown(key));
  const int error = status ? publish(directory, aside.name, place.name) : 0;
  if (!status || error != 0) {
    ::unlinkat(directory, aside.name.c_str(), 0);
  }
  if (!status) {
    return base::fail(std::move(status).error());
  }
  if (error == EEXIST) {
    return compare(key, content);
  }
  if (error != 0) {
    return base::errno_failure(error, "cannot create " + shown(key));
  }
  JPROF_TRY(sync_fd(directory, shown(key)));
  return PutReceipt{PutReceipt::Outcome::kCreated, shown(key)};
}

Result<PutReceipt> FileStore::compare(const ObjectKey& key, const Content& content) {
  JPROF_TRY_ASSIGN(const ObjectInfo there, info(key));
  if (there.size_bytes == content.body.size_bytes() && there.sha256 == content.sha256) {
    // Whoever wrote it may have died before the directory was synced.
    JPROF_TRY_ASSIGN(const Place place, find(key, Missing::kFail));
    JPROF_TRY(sync_fd(place.directory.get(), shown(key)));
    return PutReceipt{PutReceipt::Outcome::kAlreadyThere, shown(key)};
  }
  return base::make_failure(ErrorCode::kAlreadyExists, shown(key) + " exists with other content");
}

Result<UniqueFd> FileStore::open_object(const ObjectKey& key) const {
  JPROF_TRY_ASSIGN(const Place place, find(key, Missing::kFail));
  // O_NONBLOCK: a FIFO in its place must not hang us.
  UniqueFd fd(::openat(place.directory.get(), place.name.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return base::errno_failure(errno, "cannot open " + shown(key));
  }
  if (!S_ISREG(info.st_mode)) {
    return base::make_failure(ErrorCode::kIo, shown(key) + " is not a regular file");
  }
  return fd;
}

Result<ObjectInfo> FileStore::info(const ObjectKey& key) {
  base::Sha256Stream digest;
  ObjectInfo out;
  JPROF_TRY(get(key, [&](std::string_view piece) -> Status {
    out.size_bytes += piece.size();
    digest.update(piece);
    return {};
  }));
  out.sha256 = digest.finish();
  return out;
}

Status FileStore::get(const ObjectKey& key, const std::function<Status(std::string_view)>& sink) {
  JPROF_TRY_ASSIGN(const UniqueFd fd, open_object(key));
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got == 0) {
      return {};
    }
    if (got > 0) {
      JPROF_TRY(sink({buffer.data(), static_cast<std::size_t>(got)}));
    } else if (errno != EINTR) {
      return base::errno_failure(errno, "cannot read " + shown(key));
    }
  }
}

Status
FileStore::list_below(UniqueFd directory, const std::string& at, const std::string& prefix,
                      const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) const {
  JPROF_TRY_ASSIGN(const std::vector<Listed> entries,
                   entries_of(directory.get(), root_ + "/" + at));
  for (const Listed& entry : entries) {
    const auto key = ObjectKey::parse(at + entry.name);
    if (!key) {
      continue;
    }
    if (!entry.is_directory) {
      if (key->text().starts_with(prefix)) {
        JPROF_TRY(visitor(*key, entry.size_bytes));
      }
      continue;
    }
    const std::string below = key->text() + "/";
    if (below.starts_with(prefix) || prefix.starts_with(below)) {
      JPROF_TRY_ASSIGN(UniqueFd child, open_below(directory.get(), entry.name, Missing::kFail,
                                                  root_ + "/" + below));
      JPROF_TRY(list_below(std::move(child), below, prefix, visitor));
    }
  }
  return {};
}

Status FileStore::list(const std::string& prefix,
                       const std::function<Status(const ObjectKey&, std::uint64_t)>& visitor) {
  auto root = open_root(Missing::kFail);
  if (!root && root.error().code == ErrorCode::kNotFound) {
    return {}; // nothing was stored yet
  }
  if (!root) {
    return base::fail(std::move(root).error());
  }
  return list_below(std::move(*root), "", prefix, visitor);
}

} // namespace

std::unique_ptr<ObjectStore> make_file_store(std::string directory) {
  return std::make_unique<FileStore>(std::move(directory));
}

} // namespace jprof::store
