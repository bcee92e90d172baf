// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jprof::symbols {

struct FunctionName {
  std::string name;       // "JavaThread::run", "std::vector<int>::push_back"
  std::string parameters; // "(int) const", empty for C
};

// A symbol as people write it. The symbol is foreign: input, output, depth and hence time are
// bounded; what cannot be demangled within the bounds stays unchanged. Thread-safe.
FunctionName demangle(std::string_view symbol);

} // namespace jprof::symbols
