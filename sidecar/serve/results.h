// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/config/sidecar_config.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"
#include "sidecar/serve/serve_context.h"
#include "sidecar/spool/spool.h"

#include <string>
#include <vector>

// What serve answers, made from what is in the spool.
namespace jprof::serve {

struct Reply {
  protocol::ResultMessage result;
  std::string directory; // of result.files; empty: no files
};

// Of a sealed or delivered capture: files of these formats ("manifest" is the manifest itself).
base::Result<Reply> reply_by_format(const spool::Entry& entry,
                                    const std::vector<std::string>& formats);
// By name and offset; no names: every file but the manifest. kNotFound for a name that does not
// exist.
base::Result<Reply> reply_by_name(const spool::Entry& entry, const protocol::FetchRequest& request);
// The newest captures of the spool.
protocol::ResultMessage list_reply(const spool::Spool& spool);
// The visible JVMs, each with the doctor's checks, as `jprof list -o json` shows them, and what
// serve itself would answer somebody who wants to record.
base::Result<protocol::ResultMessage> targets_reply(const ServeContext& context,
                                                    const protocol::TargetsRequest& request);

} // namespace jprof::serve
