// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/symbols/demangle.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>

// The demangler of libstdc++ (libsupc++.a), in the form that returns its output in pieces and
// allocates no memory. abi::__cxa_demangle is unsuitable for foreign symbols: substitutions let a
// name of a hundred bytes grow to gigabytes.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*callback)(const char*, std::size_t, void*),
                                             void* opaque);

namespace jprof::symbols {
namespace {

constexpr std::size_t kMaxInput = 4096;
constexpr std::size_t kMaxOutput = 4096;

struct Output {
  char text[kMaxOutput];
  std::size_t size = 0;
  std::jmp_buf overflow;
};

void append(const char* text, std::size_t size, void* opaque) {
  auto& out = *static_cast<Output*>(opaque);
  if (size > kMaxOutput - out.size) {
    // The only way to end it: it has no state but its stack frames, which hold no resources.
    std::longjmp(out.overflow, 1);
  }
  std::copy_n(text, size, out.text + out.size);
  out.size += size;
}

// Nothing here may have a destructor: longjmp skips them.
bool run_demangler(const char* symbol, Output& out) {
  if (setjmp(out.overflow) != 0) {
    return false;
  }
  return __gcclibcxx_demangle_callback(symbol, &append, &out) == 0;
}

// The '(' that the ')' at `close` ends, or npos.
std::size_t opening_of(std::string_view text, std::size_t close) {
  int depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    if (text[at] == ')') {
      ++depth;
    } else if (text[at] == '(' && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

// Where the parameter list begins: "a::b(int) const" at '('; npos if there is none.
std::size_t parameters_of(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos ||
      text.substr(close + 1).find("::") != std::string_view::npos) {
    return std::string_view::npos; // "(anonymous namespace)::x", "f(int)::local"
  }
  const std::size_t open = opening_of(text, close);
  const bool call_operator = open != std::string_view::npos && close == open + 1 &&
                             text.substr(0, open).ends_with(kOperator);
  return call_operator ? std::string_view::npos : open;
}

// Templates are demangled with their return type: returns where the name itself begins.
std::size_t name_begin(std::string_view text) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (depth == 0 && text.substr(at).starts_with("operator")) {
      break; // what follows may hold brackets and spaces of its own
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == '>' || c == ')' || c == '}' || c == ']') {
      --depth;
    } else if (c == ' ' && depth == 0) {
      begin = at + 1;
    }
  }
  return begin;
}

} // namespace

FunctionName demangle(std::string_view symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > kMaxInput) {
    return {std::string(symbol), {}};
  }
  Output out;
  if (!run_demangler(std::string(symbol).c_str(), out)) {
    return {std::string(symbol), {}};
  }
  const std::string_view text(out.text, out.size);
  const std::size_t parameters = std::min(parameters_of(text), text.size());
  const std::string_view name = text.substr(0, parameters);
  return {std::string(name.substr(name_begin(name))), std::string(text.substr(parameters))};
}

} // namespace jprof::symbols
