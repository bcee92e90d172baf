// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace jprof::kube {

// Kubernetes' Status object (meta/v1): how the API server says no, and how an exec ends.
struct ApiStatus {
  struct Cause {
    std::string reason;
    std::string message;
  };
  std::string status; // "Success" or "Failure"
  std::string reason; // "Forbidden", "NotFound", "NonZeroExitCode", ...
  std::string message;
  std::string kind; // of the object it is about, e.g. "pods"
  std::string name;
  std::vector<Cause> causes;
  int code = 0;
};

// Any bytes; kProtocol if it is not a Status object.
base::Result<ApiStatus> parse_api_status(std::string_view text);

// What was asked of the API server, for the cure of a refusal.
struct ApiAction {
  std::string verbs;    // as a role lists them: "get", "get,create"
  std::string resource; // "pods", "pods/exec"
  std::string namespace_name;
};

// The Error for an answer that is not a success, worded as kubectl words it. `body` may be
// anything: a proxy's page is quoted in part.
base::Error api_error(int http_status, std::string_view body, const ApiAction& action);

} // namespace jprof::kube
