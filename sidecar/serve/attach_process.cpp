// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/attach_process.h"

#include "sidecar/container/packet.h"
#include "sidecar/serve/attach_work.h"

#include <csignal>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace jprof::serve {
namespace {

constexpr std::size_t kMaxPacket = 64 * 1024;

// The packet and the descriptor that came with it.
std::optional<AttachProcess::Answer> receive(int channel) {
  auto packet = container::receive_packet(channel, kMaxPacket);
  if (!packet || packet->bytes.empty()) {
    return std::nullopt;
  }
  protocol::FrameDecoder decoder;
  decoder.feed(packet->bytes);
  auto frame = decoder.take();
  if (!frame || !*frame) {
    return std::nullopt;
  }
  return AttachProcess::Answer{std::move(**frame), std::move(packet->fd)};
}

} // namespace

base::Result<AttachProcess> AttachProcess::start(const ServeContext& context,
                                                 const protocol::AttachRequest& request) {
  JPROF_TRY_ASSIGN(Worker worker, start_worker("a command", [&](base::UniqueFd channel) {
                     return run_attach_work(context, request, std::move(channel));
                   }));
  return AttachProcess(std::move(worker));
}

base::Result<AttachProcess::Answer> AttachProcess::finish() {
  auto answer = receive(channel_.get());
  const WorkerEnd end = wait_for_end(pid_);
  if (!answer) {
    return base::fail(error_of("the process that asked the JVM", end));
  }
  return std::move(*answer);
}

void AttachProcess::stop() const {
  ::kill(pid_, SIGTERM); // ours until finish() has waited for it
}

void send_answer(int channel, protocol::FrameType type, const std::string& payload, int file) {
  // A failure looks like our end without an answer.
  (void)container::send_packet(channel, protocol::encode_frame(type, payload), file);
}

} // namespace jprof::serve
