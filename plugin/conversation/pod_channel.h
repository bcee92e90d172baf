// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/kube/exec_stream.h"
#include "plugin/conversation/byte_channel.h"

#include <memory>
#include <string>
#include <utility>

namespace jprof::plugin {

// A session that runs in a pod.
class PodChannel final : public ByteChannel {
 public:
  explicit PodChannel(std::unique_ptr<kube::ExecStream> stream) : stream_(std::move(stream)) {}
  ~PodChannel() override { stream_->close(); }
  PodChannel(const PodChannel&) = delete;
  PodChannel& operator=(const PodChannel&) = delete;

  base::Status write(std::string_view bytes) override { return stream_->write(bytes); }
  base::Result<Event> read(std::chrono::milliseconds timeout, int wake_fd) override;
  const std::string& error_output() const override { return error_output_; }

 private:
  std::unique_ptr<kube::ExecStream> stream_;
  std::string error_output_;
};

} // namespace jprof::plugin
