// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/label_selector.h"

#include "lib/base/encoding.h"

namespace jprof::kube {
namespace {

base::Result<std::string> expression_text(const base::Json& expression) {
  const std::string key = base::json_string(expression, "key");
  const std::string op = base::json_string(expression, "operator");
  if (op == "Exists") {
    return key;
  }
  if (op == "DoesNotExist") {
    return "!" + key;
  }
  std::string values;
  for (const base::Json& value : base::json_array(expression, "values")) {
    if (value.is_string()) {
      values += (values.empty() ? "" : ",") + value.get<std::string>();
    }
  }
  if (op == "In" || op == "NotIn") {
    return key + (op == "In" ? " in (" : " notin (") + values + ")";
  }
  return base::make_failure(base::ErrorCode::kProtocol,
                            "a selector with the unknown operator \"" + base::printable(op) + "\"");
}

} // namespace

base::Result<std::string> selector_text(const base::Json& selector) {
  std::string out;
  for (const auto& [key, value] : base::json_object(selector, "matchLabels").items()) {
    if (value.is_string()) {
      out += (out.empty() ? "" : ",") + key + "=" + value.get<std::string>();
    }
  }
  for (const base::Json& expression : base::json_array(selector, "matchExpressions")) {
    JPROF_TRY_ASSIGN(const std::string text, expression_text(expression));
    out += (out.empty() ? "" : ",") + text;
  }
  if (out.empty()) {
    return base::make_failure(base::ErrorCode::kProtocol, "the workload has an empty selector");
  }
  return out;
}

} // namespace jprof::kube
