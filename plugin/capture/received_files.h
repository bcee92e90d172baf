// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/protocol/file_check.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "plugin/capture/pending_file.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jprof::plugin {

// The files of one capture as they arrive, over as many connections as it takes: what has arrived
// stays, and resume_request() asks for the rest. Each file's place is chosen by its format, never
// by the name that the sidecar gave. One thread at a time.
class ReceivedFiles {
 public:
  // Where a file of this format goes; an empty path refuses it.
  using Placement = std::function<std::string(const std::string& format)>;

  struct File {
    std::string name; // the sidecar's, plain and safe
    std::string format;
    std::string sha256; // hexadecimal, verified when complete
    std::uint64_t bytes = 0;
    PendingFile pending;
  };

  explicit ReceivedFiles(Placement placement) : placement_(std::move(placement)) {}

  // A result begins (again). kProtocol if it contradicts what came before or announces more than
  // any capture holds, kIo if the disk has no room for it.
  base::Status begin(const protocol::ResultMessage& result);
  base::Status add(const protocol::Chunk& chunk);
  // All files of the result are here and verified.
  base::Status finish();

  // Something has already arrived: a new connection can resume from there.
  bool started() const { return started_; }
  protocol::FetchRequest resume_request(const std::string& id) const;
  // How much of them is on disk so far.
  std::uint64_t bytes() const;

  std::vector<File>& files() { return files_; }

 private:
  base::Status adopt(const protocol::ResultFile& file, const std::string& format);
  base::Status replay(std::size_t index, std::uint64_t offset);
  base::Status check_room(const protocol::ResultMessage& result) const;

  Placement placement_;
  std::vector<File> files_;
  std::vector<std::size_t> order_; // the current result's file index -> files_
  std::unique_ptr<protocol::FileCheck> check_;
  bool started_ = false;
};

} // namespace jprof::plugin
