// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/serve/attach_work.h"

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/log/log.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/reply.h"
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/diagnostic.h"
#include "sidecar/jvm/discovery.h"
#include "sidecar/jvm/heap_dump.h"
#include "sidecar/sandbox/sandbox.h"
#include "sidecar/serve/attach_process.h"
#include "sidecar/serve/process_limits.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace jprof::serve {
namespace {

using base::Deadline;
using base::ErrorCode;

constexpr std::size_t kMaxAnswerBytes = 64U << 20U;
constexpr std::size_t kMaxTextLength = 4096;
constexpr std::chrono::seconds kDefaultTimeout{30};

// Written by the signal's handler, read by the only thread.
volatile std::sig_atomic_t stop_requested = 0;

void stop_on_termination() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = 1; };
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) {
    ::sigaction(signal, &action, nullptr); // without SA_RESTART: a wait ends
    sigaddset(&signals, signal);
  }
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

bool stopped() {
  return stop_requested != 0;
}

struct Answer {
  base::UniqueFd file;
  std::uint64_t bytes = 0;
  std::string name; // the file's, so that the caller knows what it is
  std::string note;
};

// A file in the spool's file system that never has a name, so that nothing has to be removed.
base::Result<base::UniqueFd> nameless_file(const std::string& directory) {
  base::UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    return base::errno_failure(errno, "cannot create a file in " + directory);
  }
  return file;
}

base::Result<Answer> take_text(const ServeContext& context, const jvm::Target& target,
                               const protocol::AttachRequest& request, Deadline deadline) {
  JPROF_TRY_ASSIGN(const jvm::Diagnostic diagnostic,
                   jvm::make_diagnostic(request.command, request.arguments));
  Answer answer{{}, 0, "answer.txt", diagnostic.note};
  JPROF_TRY_ASSIGN(answer.file, nameless_file(context.spool.directory()));
  base::Status written;
  jvm::AttachLimits limits;
  limits.answer_bytes = kMaxAnswerBytes;
  limits.stopped = stopped;
  limits.on_connected = [] {
    base::sha256_hex(""); // its library looks for a configuration when it is first used
    for (const std::string& missing : sandbox::enter({}).missing) {
      log::info("the JVM's answer is read in a weaker sandbox: " + missing);
    }
  };
  limits.on_text = [&](std::string_view text) {
    if (written) {
      written = base::write_all(answer.file.get(), text, "the answer");
      answer.bytes += text.size();
    }
  };
  JPROF_TRY_ASSIGN(const jvm::AttachReply reply,
                   jvm::run_command(target, diagnostic.command, deadline, limits));
  JPROF_TRY(jvm::judge(diagnostic, reply));
  JPROF_TRY(written);
  return answer;
}

base::Result<Answer> take_dump(const ServeContext& context, const jvm::Target& target,
                               const protocol::AttachRequest& request, Deadline deadline) {
  JPROF_TRY_ASSIGN(jvm::HeapDump dump,
                   jvm::take_heap_dump(target,
                                       {.arguments = request.arguments,
                                        .max_bytes = context.config.limits.dump_bytes,
                                        .stopped = stopped},
                                       deadline));
  return Answer{std::move(dump.file), dump.bytes, "heap.hprof", ""};
}

base::Result<std::string> digest(const Answer& answer) {
  constexpr std::size_t kPiece = 256 * 1024;
  base::Sha256Stream stream;
  std::vector<char> buffer(kPiece);
  for (std::uint64_t at = 0; at < answer.bytes;) {
    if (stopped()) {
      return base::make_failure(ErrorCode::kInterrupted, "interrupted while the answer was read");
    }
    const std::span<char> piece(buffer.data(), std::min<std::uint64_t>(kPiece, answer.bytes - at));
    JPROF_TRY(base::pread_exact(answer.file.get(), std::as_writable_bytes(piece), at, answer.name));
    stream.update({piece.data(), piece.size()});
    at += piece.size();
  }
  return base::hex(base::as_text(stream.finish()));
}

base::Result<Answer> ask(const ServeContext& context, const protocol::AttachRequest& request) {
  const auto timeout =
      request.timeout.count() == 0 ? std::chrono::nanoseconds(kDefaultTimeout) : request.timeout;
  const auto deadline = Deadline::after(timeout);
  const auto pid = request.pid == 0 ? std::nullopt : std::optional(static_cast<pid_t>(request.pid));
  JPROF_TRY_ASSIGN(const jvm::Target target, jvm::find_one_jvm(pid, request.container_id));
  log::info("'" + request.command + "' for " + target.name() + ", requested by '" +
            request.requester + "'");
  return request.command == "dumpheap" ? take_dump(context, target, request, deadline)
                                       : take_text(context, target, request, deadline);
}

base::Result<protocol::ResultMessage> result_of(const Answer& answer) {
  protocol::ResultMessage result;
  result.message = answer.note;
  JPROF_TRY_ASSIGN(std::string sha256, digest(answer));
  result.files.push_back({answer.name, answer.bytes, 0, std::move(sha256)});
  return result;
}

} // namespace

int run_attach_work(const ServeContext& context, const protocol::AttachRequest& request,
                    base::UniqueFd channel) {
  stop_on_termination();
  auto answer = [&]() -> base::Result<Answer> {
    JPROF_TRY(limit_this_process(context.memory.connection, kMaxAnswerBytes));
    return ask(context, request);
  }();
  base::Result<protocol::ResultMessage> result =
      answer ? result_of(*answer) : base::fail(std::move(answer).error());
  if (result) {
    send_answer(channel.get(), protocol::FrameType::kResult, protocol::encode_result(*result),
                answer->file.get());
    return 0;
  }
  base::Error error = std::move(result).error();
  error.message = base::printable(error.message, kMaxTextLength);
  error.cure = base::printable(error.cure, kMaxTextLength);
  send_answer(channel.get(), protocol::FrameType::kError,
              protocol::encode_error({std::move(error), "", "", "", ""}), -1);
  return 0;
}

} // namespace jprof::serve
