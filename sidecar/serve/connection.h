// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/deadline.h"
#include "lib/base/unique_fd.h"
#include "sidecar/serve/attach_process.h"
#include "sidecar/serve/caller_places.h"
#include "sidecar/serve/capture_process.h"
#include "sidecar/serve/file_sender.h"
#include "sidecar/serve/frame_stream.h"
#include "sidecar/serve/results.h"
#include "sidecar/serve/serve_context.h"

#include <optional>
#include <string>

namespace jprof::serve {

// One caller, in a process forked for it: understands its frames, starts captures, sends results.
// When the caller goes away, its capture continues; the process stays until that has ended, to
// salvage what a dying recorder leaves. One thread; blocks only in poll(2).
class Connection {
 public:
  // `idle_since` is kept up to date; while nothing is in progress, SIGUSR1 asks for the place. May
  // be null.
  Connection(ServeContext& context, base::UniqueFd socket, IdleSince* idle_since);
  // Until the caller is done, or has been silent too long, or SIGTERM came and everything is
  // sealed.
  void run();

 private:
  enum class State { kHello, kIdle, kCapturing, kAsking, kWaiting, kSending, kDone };

  void poll_once();
  int poll_timeout() const;
  void on_readable();
  void on_frame(const protocol::Frame& frame);
  void on_hello(const protocol::Frame& frame);
  void on_request(const protocol::Frame& frame);
  void on_record(const protocol::RecordRequest& request);
  void on_fetch(const protocol::FetchRequest& request);
  void on_release(const protocol::ReleaseRequest& request);
  void on_attach(const protocol::AttachRequest& request);
  void on_answer();
  void on_quit();
  void on_capture();
  void on_capture_failed(protocol::ErrorMessage message);
  void on_capture_died();
  base::Status salvage(const std::string& id, const std::string& reason);
  void on_signal();
  void give_place();
  bool is_idle() const;
  void note_idleness();
  void on_tick();
  void wait_for(const std::string& id);
  void look_at_waited();
  void send_entry(const spool::Entry& entry);
  void start_sending(base::Result<Reply> reply);
  void begin_sending(FileSender sender);
  void pump();
  void send_error(protocol::ErrorMessage message);
  void send_error(base::Error error);
  void finish_request();
  void caller_gone();
  void break_off(base::Error error);
  // Nothing more can be asked after the current request.
  bool is_last() const { return leaving_ || caller_reads_only_; }

  ServeContext& context_;
  IdleSince* idle_since_;
  FrameStream stream_;
  base::UniqueFd signals_;
  State state_ = State::kHello;
  bool caller_here_ = true;        // it can still be written to
  bool caller_reads_only_ = false; // it has closed its end for writing
  bool leaving_ = false;           // SIGTERM
  base::Deadline deadline_;        // of the state, or of the last sign of life while sending
  base::Deadline next_tick_;
  bool quit_ = false; // end serve once the caller has left
  protocol::Request request_;
  std::optional<CaptureProcess> capture_;
  std::optional<AttachProcess> attach_;
  std::string waited_id_;
  std::optional<FileSender> sender_;
};

} // namespace jprof::serve
