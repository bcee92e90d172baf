// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/path_walk.h"

#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace jprof::container {
namespace {

constexpr int kMaxLinks = 40;           // as the kernel's MAXSYMLINKS
constexpr std::size_t kMaxPath = 4096;  // of one link or path
constexpr std::size_t kMaxSteps = 1024; // components open or still to go

class Walk {
 public:
  Walk(int root, int flags) : root_(root), flags_(flags) {}

  base::UniqueFd run(std::string_view path) {
    if (!push_path(path)) {
      return {};
    }
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      if (!step(name)) {
        return {};
      }
    }
    if (last_) {
      return std::move(last_);
    }
    return base::UniqueFd(::openat(here(), ".", O_PATH | O_CLOEXEC));
  }

 private:
  int here() const { return trail_.empty() ? root_ : trail_.back().get(); }

  // Puts the components of `path` before what is still to go; an absolute path starts at the root.
  bool push_path(std::string_view path) {
    if (path.size() >= kMaxPath) {
      errno = ENAMETOOLONG;
      return false;
    }
    if (!path.empty() && path[0] == '/') {
      trail_.clear();
    }
    std::vector<std::string> names;
    std::size_t begin = 0;
    while (begin < path.size()) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) {
        names.emplace_back(path.substr(begin, end - begin));
      }
      begin = end + 1;
    }
    // A trailing slash asks for a directory.
    if (!path.empty() && path.back() == '/') {
      names.emplace_back(".");
    }
    pending_.insert(pending_.begin(), names.begin(), names.end());
    if (pending_.size() + trail_.size() > kMaxSteps) {
      errno = ENAMETOOLONG;
      return false;
    }
    return true;
  }

  bool step(const std::string& name) {
    if (name == ".") {
      return true;
    }
    if (name == "..") {
      if (!trail_.empty()) {
        trail_.pop_back();
      }
      return true;
    }
    base::UniqueFd next(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat entry {};
    if (!next || ::fstat(next.get(), &entry) != 0) {
      return false;
    }
    if (S_ISLNK(entry.st_mode) && !(pending_.empty() && (flags_ & O_NOFOLLOW) != 0)) {
      return follow(next.get());
    }
    if (S_ISDIR(entry.st_mode)) {
      trail_.push_back(std::move(next));
      return true;
    }
    if (!pending_.empty()) {
      errno = ENOTDIR;
      return false;
    }
    last_ = std::move(next);
    return true;
  }

  bool follow(int link) {
    if (++links_ > kMaxLinks) {
      errno = ELOOP;
      return false;
    }
    std::string target(kMaxPath, '\0');
    const ssize_t got = ::readlinkat(link, "", target.data(), target.size());
    if (got <= 0) {
      errno = got == 0 ? ENOENT : errno;
      return false;
    }
    target.resize(static_cast<std::size_t>(got));
    return push_path(target);
  }

  int root_;
  int flags_;
  int links_ = 0;
  std::deque<std::string> pending_;
  std::vector<base::UniqueFd> trail_; // directories below the root, outermost first
  base::UniqueFd last_;               // the last component, when it is not a directory
};

} // namespace

base::UniqueFd walk_in_root(int root, std::string_view path, int flags) {
  return Walk(root, flags).run(path);
}

} // namespace jprof::container
