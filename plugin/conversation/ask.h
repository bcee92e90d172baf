// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/kube/kube_client.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "plugin/conversation/conversation.h"
#include "plugin/terminal/interrupt.h"

#include <memory>
#include <string>

namespace jprof::plugin {

// `/jprof session` in a container: always exactly these words, so that an admission policy can
// allow just them.
base::Result<std::unique_ptr<ByteChannel>> open_channel(kube::KubeClient& client,
                                                        const kube::Pod& pod,
                                                        const std::string& container, int wake_fd);

// A conversation for requests that bring no files (list, targets).
base::Result<std::unique_ptr<Conversation>> open_conversation(kube::KubeClient& client,
                                                              const kube::Pod& pod,
                                                              const std::string& container,
                                                              const Interrupt& interrupt);
base::Result<protocol::ResultMessage> ask(Conversation& conversation, protocol::RequestKind kind);
base::Result<protocol::ResultMessage> ask(Conversation& conversation,
                                          const protocol::Request& request);

} // namespace jprof::plugin
