// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/session/ask.h"

#include "plugin/session/exec_channel.h"

#include <utility>

namespace jprof::plugin {
namespace {

using base::Result;

class NoFiles final : public SessionHandler {
 public:
  void on_progress(const control::Progress&) override {}
  base::Status on_result(const control::ResultMessage&) override { return {}; }
  base::Status on_chunk(const control::Chunk&) override {
    return base::make_failure(base::ErrorCode::kProtocol, "the sidecar sent a file unasked");
  }
  base::Status on_end() override { return {}; }
};

} // namespace

Result<std::unique_ptr<ByteChannel>> open_channel(kube::KubeClient& client, const kube::Pod& pod,
                                                  const std::string& container, int wake_fd) {
  JPROF_TRY_ASSIGN(std::unique_ptr<kube::ExecStream> stream,
                   client.exec({.namespace_name = pod.namespace_name,
                                .pod = pod.name,
                                .container = container,
                                .command = {"/jprof", "session"}},
                               wake_fd));
  return std::unique_ptr<ByteChannel>(std::make_unique<ExecChannel>(std::move(stream)));
}

Result<std::unique_ptr<Session>> open_session(kube::KubeClient& client, const kube::Pod& pod,
                                              const std::string& container,
                                              const Interrupt& interrupt) {
  JPROF_TRY_ASSIGN(std::unique_ptr<ByteChannel> channel,
                   open_channel(client, pod, container, interrupt.wake_fd(0)));
  auto session = std::make_unique<Session>(std::move(channel), interrupt, 0);
  JPROF_TRY(session->open());
  return session;
}

Result<control::ResultMessage> ask(Session& session, control::RequestKind kind) {
  control::Request request;
  request.kind = kind;
  return ask(session, request);
}

Result<control::ResultMessage> ask(Session& session, const control::Request& request) {
  NoFiles handler;
  return session.run(request, handler);
}

} // namespace jprof::plugin
