// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "plugin/conversation/byte_channel.h"
#include "plugin/terminal/interrupt.h"

#include <chrono>
#include <memory>
#include <optional>

namespace jprof::plugin {

// What a request's owner does with the answers. Called on the conversation's thread; an Error ends
// the request and is what Conversation::run returns.
class ConversationHandler {
 public:
  virtual ~ConversationHandler() = default;
  virtual void on_progress(const protocol::Progress& progress) = 0;
  // Before the first chunk.
  virtual base::Status on_result(const protocol::ResultMessage& result) = 0;
  virtual base::Status on_chunk(const protocol::Chunk& chunk) = 0;
  // After the last chunk.
  virtual base::Status on_end() = 0;
};

// The caller's end of the conversation of docs/formats/protocol.md. One thread at a time.
class Conversation {
 public:
  struct Timing {
    std::chrono::milliseconds hello{20000};   // for the other side's hello
    std::chrono::milliseconds ping{10000};    // ask after this long without a frame
    std::chrono::milliseconds silence{60000}; // give up after this long without a frame
    // For the result, counted from when the request must have done its work: attaching and sealing
    // take long if CPU is short, but a sidecar that only reports progress would hold us for ever.
    std::chrono::milliseconds overtime{600'000};
    // For the report that a capture was discarded: a JVM that hangs may keep the recorder waiting.
    std::chrono::milliseconds discard{5000};
  };

  // `seen_interrupts`: how many have been acted on already; one means that record requests are to
  // end.
  Conversation(std::unique_ptr<ByteChannel> channel, const Interrupt& interrupt,
               int seen_interrupts);
  Conversation(std::unique_ptr<ByteChannel> channel, const Interrupt& interrupt,
               int seen_interrupts, Timing timing);

  // Exchanges hellos and agrees on a protocol. kNoSidecar if what runs there is not jprof.
  base::Status open();
  // Runs one request to its end. An interrupt sends a cancel: the first one keeps, the second one
  // discards, and the sidecar's answer to it is awaited: kInterrupted says what became of the
  // capture. Once files are arriving, only the second one ends it.
  base::Result<protocol::ResultMessage> run(const protocol::Request& request,
                                            ConversationHandler& handler);

  // Tells a sidecar that supports it that the capture need not be kept, and waits for its answer no
  // longer than this.
  void release(const std::string& id, std::chrono::milliseconds timeout);

  // The last failure was the connection's, not an answer: the capture may continue without us.
  bool lost() const { return lost_; }
  // The sidecar has confirmed that it discarded the capture.
  bool discarded() const { return discarded_; }
  const protocol::Hello& peer() const { return peer_; }
  // What was in the way, for a failure with kBusy.
  const std::optional<protocol::ErrorMessage>& refusal() const { return refusal_; }

 private:
  using Clock = std::chrono::steady_clock;
  base::Result<std::optional<protocol::Frame>> next_frame(std::chrono::milliseconds timeout,
                                                          int wake_fd);
  enum class Stage { kOpening, kWorking, kArriving }; // of the request
  base::Result<protocol::ResultMessage> converse(const protocol::Request& request,
                                                 ConversationHandler& handler);
  base::Result<protocol::Frame> wait_frame(Stage stage, Clock::time_point until);
  base::Status on_interrupt(Stage stage);
  // What a failure means once the capture was to be discarded.
  base::Error after_discard(base::Error error);
  base::Status send(protocol::FrameType type, std::string_view payload);
  bool knows(std::string_view word) const;
  base::Error ended(int exit_code) const;
  base::Error lost_error(base::Error error);

  std::unique_ptr<ByteChannel> channel_;
  const Interrupt& interrupt_;
  int seen_interrupts_;
  Timing timing_;
  protocol::FrameDecoder decoder_;
  protocol::Hello peer_;
  std::optional<protocol::ErrorMessage> refusal_;
  bool heard_ = false; // at least one frame came
  bool lost_ = false;
  std::optional<Clock::time_point> discard_until_; // the sidecar was told to discard it
  bool discarded_ = false;
  bool records_ = false; // the request is for a capture, the only thing that can be discarded
};

} // namespace jprof::plugin
