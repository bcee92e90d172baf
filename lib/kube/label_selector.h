// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/base/result.h"

#include <string>

namespace jprof::kube {

// A workload's selector object (matchLabels and matchExpressions) in the text form that list
// requests take: "app=shop,tier in (a,b),!old". kProtocol for an empty selector, which would match
// every pod, or an operator that we do not know.
base::Result<std::string> selector_text(const base::Json& selector);

} // namespace jprof::kube
