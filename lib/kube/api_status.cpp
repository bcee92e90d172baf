// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/api_status.h"

#include "lib/base/encoding.h"

namespace jprof::kube {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxQuoteLength = 300;
constexpr std::size_t kMaxMessageLength = 2000;

ErrorCode code_of(int http_status, std::string_view reason) {
  if (reason == "AlreadyExists") {
    return ErrorCode::kAlreadyExists;
  }
  switch (http_status) {
  case 400:
    return ErrorCode::kUsage; // a selector or container name that the server cannot read
  case 422:
    return ErrorCode::kForbidden; // an admission policy's way to refuse
  case 401:
    return ErrorCode::kUnauthenticated;
  case 403:
    return ErrorCode::kForbidden;
  case 404:
    return ErrorCode::kTargetNotFound;
  case 409:
    return ErrorCode::kUnavailable;
  case 429:
    return ErrorCode::kBusy;
  case 504:
    return ErrorCode::kTimeout;
  default:
    return http_status >= 500 ? ErrorCode::kUnavailable : ErrorCode::kProtocol;
  }
}

// The role that would have allowed it, in the words of `kubectl create role`.
std::string grant(const ApiAction& action) {
  return "grant " + action.verbs + " on " + action.resource + " in namespace " +
         action.namespace_name + ": kubectl -n " + action.namespace_name +
         " create role jprof --verb=" + action.verbs + " --resource=" + action.resource +
         ", and bind it";
}

std::string cure_of(ErrorCode code, std::string_view message, const ApiAction& action) {
  switch (code) {
  case ErrorCode::kUnauthenticated:
    return "log in again: the token or certificate of this kubeconfig user is not accepted";
  case ErrorCode::kForbidden:
    if (message.find("violates PodSecurity") != std::string_view::npos) {
      return "Pod Security of namespace " + action.namespace_name +
             " refuses it: `restricted` and `baseline` allow a JVM that is not root, without "
             "--capability; --uid and --gid set the user that it runs as";
    }
    // RBAC says `User "x" cannot VERB resource`; anything else is an admission policy's own text.
    return message.find("cannot ") != std::string_view::npos
               ? grant(action)
               : "an admission policy of the cluster refused it: ask the cluster's administrators";
  case ErrorCode::kBusy:
    return "the API server is limiting requests: try again";
  case ErrorCode::kUnavailable:
  case ErrorCode::kTimeout:
    return "try again; kubectl get --raw /readyz reports the API server's state";
  default:
    return {};
  }
}

} // namespace

base::Result<ApiStatus> parse_api_status(std::string_view text) {
  const auto root = base::parse_json(text);
  if (!root || !root->is_object() || base::json_string(*root, "status").empty()) {
    return base::make_failure(ErrorCode::kProtocol, "not a Status object of Kubernetes");
  }
  ApiStatus out;
  out.status = base::json_string(*root, "status");
  out.reason = base::json_string(*root, "reason");
  out.message = base::json_string(*root, "message");
  const auto code = base::json_int(*root, "code");
  out.code = code > 0 && code < 1000 ? static_cast<int>(code) : 0;
  const base::Json& details = base::json_object(*root, "details");
  out.kind = base::json_string(details, "kind");
  out.name = base::json_string(details, "name");
  for (const base::Json& cause : base::json_array(details, "causes")) {
    out.causes.push_back({base::json_string(cause, "reason"), base::json_string(cause, "message")});
  }
  return out;
}

base::Error api_error(int http_status, std::string_view body, const ApiAction& action) {
  const auto status = parse_api_status(body);
  std::string message;
  std::string reason;
  if (status) {
    reason = status->reason;
    const std::string text = base::printable(status->message, kMaxMessageLength);
    message = http_status == 401
                  ? "You must be logged in to the server (" + base::printable(reason) + ")"
                  : "Error from server (" + base::printable(reason) + "): " + text;
  } else {
    message = "the server answered HTTP " + std::to_string(http_status);
    if (!body.empty()) {
      message += ": " + base::printable(body, kMaxQuoteLength);
    }
  }
  const ErrorCode code = code_of(http_status, reason);
  return base::make_error(code, message, cure_of(code, message, action));
}

} // namespace jprof::kube
