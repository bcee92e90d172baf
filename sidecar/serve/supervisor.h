// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/result.h"
#include "sidecar/serve/backoff.h"
#include "sidecar/serve/caller_places.h"
#include "sidecar/serve/limits_watch.h"
#include "sidecar/serve/listener.h"
#include "sidecar/serve/serve_context.h"

#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <sys/types.h>

namespace jprof::serve {

struct ServeOptions {
  // End after this long without a caller, a capture or an upload; 0: never.
  std::chrono::nanoseconds idle_exit{0};
  // The answer to anybody who wants to record: what is wrong with the configuration.
  std::optional<base::Error> broken;
};

// What the spool's upkeep does besides enforcing its limits.
enum class Upkeep {
  kRecover, // after a start: everything that an earlier serve may have left
  kFollow,  // captures that it left running
  kRoutine, // captures whose process and connection were killed
};

// `jprof serve`, as PID 1 of its container: accepts, starts a child for each caller, for uploads
// and for the spool's upkeep, reaps them, and shuts down in order on SIGTERM. It reads nothing that
// a caller, a JVM or a store sent, and no error ends it once it listens. One thread.
class Supervisor {
 public:
  // Takes the spool and starts to listen. Errors are those of a wrong configuration or volume.
  static base::Result<Supervisor> create(config::SidecarConfig config, const ServeOptions& options);
  // Until SIGTERM, SIGINT or idle_exit.
  void run();

 private:
  enum class Kind { kConnection, kUpload, kUpkeep };

  Supervisor(ServeContext context, const ServeOptions& options, Listener listener);
  bool makes_room();
  void accept_caller();
  static std::string_view kind_word(Kind kind);
  // Forks; an error, which is logged, means that there is no such child.
  template <typename Work>
  base::Status start(Kind kind, const Work& work);
  void start_upload();
  void start_upkeep();
  void on_signals();
  void on_wake();
  void reap();
  void on_end(Kind kind, int status);
  void on_upkeep_end(int code);
  void on_time();
  void look_at_limits();
  int poll_timeout() const;
  bool is_running(Kind kind) const;
  std::size_t count(Kind kind) const;
  void shut_down();
  void wait_for_children(base::Deadline deadline);
  void report_pending() const;

  ServeContext context_;
  ServeOptions options_;
  Listener listener_;
  base::UniqueFd signals_;
  base::UniqueFd wake_reader_;
  base::UniqueFd wake_writer_;
  std::map<pid_t, Kind> children_;
  CallerPlaces places_;
  bool ready_ = false;               // recovery has been tried
  Upkeep upkeep_ = Upkeep::kRecover; // the next one, or the one that runs
  bool stopping_ = false;
  bool upload_wanted_ = true;
  LimitsWatch limits_;
  Backoff backoff_;
  std::optional<base::Deadline> quiet_until_; // no word about another refused caller
  std::optional<base::Deadline> next_upload_;
  base::Deadline next_upkeep_;
  base::Deadline idle_until_;
};

} // namespace jprof::serve
