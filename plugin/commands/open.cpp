// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/page/page_writer.h"
#include "plugin/commands/commands.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <vector>

extern char** environ;

namespace jprof::plugin {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr int kNoSuchProgram = 127; // what shells and posix_spawn's own children end with

// What shows a page here: the user's choice, otherwise the desktop's.
std::string browser() {
  const char* chosen = std::getenv("BROWSER");
  if (chosen != nullptr && *chosen != '\0') {
    const std::string list = chosen; // BROWSER may be a list: the first one
    return list.substr(0, list.find(':'));
  }
#ifdef __APPLE__
  return "open";
#else
  return "xdg-open";
#endif
}

// The newest page in the working directory, by the names that record gives.
Result<std::string> newest_page() {
  std::string found;
  fs::file_time_type latest = fs::file_time_type::min();
  std::error_code error;
  for (fs::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    if (!name.starts_with("jprof-") || name == page::kViewerName ||
        at->path().extension() != ".html" || !at->is_regular_file(gone)) {
      continue;
    }
    const fs::file_time_type time = at->last_write_time(gone);
    if (!gone && time > latest) {
      latest = time;
      found = name;
    }
  }
  if (found.empty()) {
    return base::make_failure(ErrorCode::kUsage,
                              "there is no jprof-*.html in the working directory",
                              "name the page: kubectl jprof open FILE");
  }
  return found;
}

// Its own process group and no terminal: a browser outlives us and prints a lot.
Result<pid_t> start(const std::string& program, const std::string& page) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (const int fd : {0, 1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t to_default; // what we ignore would stay so
  sigemptyset(&to_default);
  sigaddset(&to_default, SIGPIPE);
  sigaddset(&to_default, SIGXFSZ);
  ::posix_spawnattr_setsigdefault(&attributes, &to_default);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = {program, page};
  std::vector<char*> arguments = {words[0].data(), words[1].data(), nullptr};
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return base::make_failure(
        ErrorCode::kUsage, "cannot run " + base::printable(program) + ": " + std::strerror(failed),
        "set BROWSER to a program that shows pages");
  }
  return child;
}

Result<int> open_page(const std::string& named) {
  std::string page = named;
  if (page.empty()) {
    JPROF_TRY_ASSIGN(page, newest_page());
  }
  std::error_code error;
  const fs::path path = fs::canonical(page, error);
  if (error || !fs::is_regular_file(path, error)) {
    return base::make_failure(ErrorCode::kUsage,
                              "there is no page at " + base::printable(page, 4096),
                              "name the .html that a capture wrote; without a name the newest "
                              "one here is opened");
  }
  const std::string program = browser();
  JPROF_TRY_ASSIGN(const pid_t child, start(program, path.string()));
  std::printf("%s\n", base::printable(path.string(), 4096).c_str());
  std::fflush(stdout);
  // Openers hand the page over and end; a browser itself runs as long as its window is open.
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return 0;
  }
  const bool absent = WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram;
  return base::make_failure(ErrorCode::kUsage,
                            base::printable(program) +
                                (absent ? " is not here" : " could not show the page"),
                            "set BROWSER to a program that shows pages");
}

// Writes the page that waits for captures, then shows it like any other.
Result<int> open_viewer(const std::string& file) {
  const std::string path = file.empty() ? page::kViewerName : file;
  JPROF_TRY(base::write_file_atomically(path, page::write_viewer_page(), 0644));
  return open_page(path);
}

} // namespace

void add_open(cli::Program& program) {
  auto page = std::make_shared<std::string>();
  auto viewer = std::make_shared<bool>(false);
  cli::Command command =
      program.add({.name = "open",
                   .summary = "Show a page in the browser",
                   .examples = "  kubectl jprof open              # the newest one "
                               "here\n"
                               "  kubectl jprof open out.html\n"
                               "  kubectl jprof open --viewer     # an empty one: drop "
                               "captures onto it\n"},
                  [page, viewer] { return *viewer ? open_viewer(*page) : open_page(*page); });
  command.option("page", *page, "Default: the newest jprof-*.html of the working directory");
  command.flag("--viewer", *viewer,
               "Write a page without a capture (default: jprof-viewer.html), which shows files "
               "that you drop or paste");
}

} // namespace jprof::plugin
