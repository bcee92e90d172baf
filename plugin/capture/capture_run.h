// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "plugin/capture/received_files.h"
#include "plugin/conversation/byte_channel.h"
#include "plugin/conversation/conversation.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace jprof::plugin {

// Opens one more `/jprof session` in the pod; a readable `wake_fd` gives up with kInterrupted.
using ChannelFactory = std::function<base::Result<std::unique_ptr<ByteChannel>>(int wake_fd)>;
using ProgressCallback = std::function<void(const protocol::Progress&)>;

// One capture of one pod, from the request to verified files, over as many connections as it takes:
// repeating a record request with its id means the same capture, and files resume where they
// stopped. One thread at a time.
class CaptureRun {
 public:
  struct Options {
    int reconnects = 6;                         // in a row without any progress
    std::chrono::milliseconds first_delay{500}; // doubled each time
    // For connections that bring no byte of a file, counted from the end of the capture's duration:
    // otherwise a pod could report progress and break off for ever.
    std::chrono::milliseconds patience{120'000};
    std::string fetch_hint; // "kubectl jprof fetch pod/x": how to get the capture later
  };

  CaptureRun(ChannelFactory open, const Interrupt& interrupt, ProgressCallback on_progress,
             Options options);

  // `request` is a record or fetch request. A result with exit code 6 or 7 is a result.
  base::Result<protocol::ResultMessage> run(const protocol::Request& request, ReceivedFiles& files);

  // After a run that failed: the sidecar has never heard of the capture, or never answered.
  bool unheard() const { return !accepted_ && !refused_; }

  // After a run whose files are now safe: the sidecar need not keep them any longer. Best effort,
  // without waiting; a capture that is not released makes room when room is needed.
  void release();

 private:
  class Handler;
  base::Result<protocol::ResultMessage> attempt(const protocol::Request& request,
                                                ReceivedFiles& files);
  // False: interrupted while waiting.
  bool pause(std::chrono::milliseconds delay) const;
  base::Error with_hint(base::Error error) const;

  ChannelFactory open_;
  const Interrupt& interrupt_;
  ProgressCallback on_progress_;
  Options options_;
  std::string capture_id_;
  std::unique_ptr<Conversation> conversation_; // of the last attempt
  bool accepted_ = false;                      // the sidecar knows of the capture
  bool lost_ = false;                          // the last attempt ended by its connection
  bool refused_ = false;                       // the last answer: there is no such capture, and why
  bool moved_ = false;                         // the last attempt made progress
};

} // namespace jprof::plugin
