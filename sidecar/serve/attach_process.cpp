// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/attach_process.h"

#include "sidecar/serve/attach_work.h"
#include "sidecar/serve/guarded.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace jprof::serve {
namespace {

constexpr std::size_t kMostPacket = 64 * 1024;

// The packet and the descriptor that came with it.
std::optional<AttachProcess::Answer> receive(int channel) {
  std::string packet(kMostPacket, '\0');
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  AttachProcess::Answer answer;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      got > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int handed = -1;
    std::memcpy(&handed, CMSG_DATA(header), sizeof handed);
    answer.file.reset(handed);
  }
  if (got <= 0) {
    return std::nullopt;
  }
  control::FrameDecoder decoder;
  decoder.feed(std::string_view(packet).substr(0, static_cast<std::size_t>(got)));
  auto frame = decoder.take();
  if (!frame || !*frame) {
    return std::nullopt;
  }
  answer.frame = std::move(**frame);
  return answer;
}

} // namespace

base::Result<AttachProcess> AttachProcess::start(const ServeContext& context,
                                                 const control::AttachRequest& request) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::errno_failure(errno, "cannot make a socket pair");
  }
  base::UniqueFd ours(ends[0]);
  base::UniqueFd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return base::errno_failure(errno, "cannot start a process for the command");
  }
  if (child == 0) {
    ours.reset();
    // No destructor of what was inherited may run here.
    ::_exit(guarded([&] { return run_attach_work(context, request, std::move(theirs)); }));
  }
  return AttachProcess(child, std::move(ours));
}

base::Result<AttachProcess::Answer> AttachProcess::finish() {
  auto answer = receive(channel_.get());
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer) {
    return base::make_failure(base::ErrorCode::kInternal,
                              WIFSIGNALED(status)
                                  ? "the process that asked the JVM was killed by signal " +
                                        std::to_string(WTERMSIG(status))
                                  : "the process that asked the JVM ended with code " +
                                        std::to_string(WEXITSTATUS(status)),
                              "raise the memory limit of the jprof container, or report a bug");
  }
  return std::move(*answer);
}

void AttachProcess::stop() const {
  ::kill(pid_, SIGTERM); // ours until finish() has waited for it
}

void send_answer(int channel, control::FrameType type, const std::string& payload, int file) {
  std::string frame = control::encode_frame(type, payload);
  iovec part{frame.data(), frame.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  // A failure is seen as our end without an answer.
  static_cast<void>(::sendmsg(channel, &message, MSG_NOSIGNAL));
}

} // namespace jprof::serve
