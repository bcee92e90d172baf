// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/conversation/ask.h"

#include "plugin/conversation/pod_channel.h"

#include <utility>

namespace jprof::plugin {
namespace {

using base::Result;

class NoFiles final : public ConversationHandler {
 public:
  void on_progress(const protocol::Progress&) override {}
  base::Status on_result(const protocol::ResultMessage&) override { return {}; }
  base::Status on_chunk(const protocol::Chunk&) override {
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
  return std::unique_ptr<ByteChannel>(std::make_unique<PodChannel>(std::move(stream)));
}

Result<std::unique_ptr<Conversation>> open_conversation(kube::KubeClient& client,
                                                        const kube::Pod& pod,
                                                        const std::string& container,
                                                        const Interrupt& interrupt) {
  JPROF_TRY_ASSIGN(std::unique_ptr<ByteChannel> channel,
                   open_channel(client, pod, container, interrupt.wake_fd(0)));
  auto conversation = std::make_unique<Conversation>(std::move(channel), interrupt, 0);
  JPROF_TRY(conversation->open());
  return conversation;
}

Result<protocol::ResultMessage> ask(Conversation& conversation, protocol::RequestKind kind) {
  protocol::Request request;
  request.kind = kind;
  return ask(conversation, request);
}

Result<protocol::ResultMessage> ask(Conversation& conversation, const protocol::Request& request) {
  NoFiles handler;
  return conversation.run(request, handler);
}

} // namespace jprof::plugin
